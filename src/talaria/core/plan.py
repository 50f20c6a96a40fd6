"""A plan: the steps of a task, which of them is under way, and what the model is told of it. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from talaria.core.errors import InvalidRequest

MOST_STEPS = 50
LONGEST_STEP = 500
SHOWN = 200
"""Characters of a step in what the model is told."""

Status = Literal["pending", "in_progress", "completed"]


class Step(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A step: what there is to do (`content`), and how that is said while it is under way (`active`)."""

    content: str
    status: Status = "pending"
    active: str = ""


Plan = tuple[Step, ...]


def read_plan(todos: Sequence[Mapping[str, Any]]) -> Plan:
    """Make a plan of what a model wrote.

    Raises:
        InvalidRequest: not exactly one step is in progress, and not all are completed.
    """
    plan = tuple(Step(each["content"], each["status"], each.get("activeForm", "")) for each in todos)
    under_way = sum(step.status == "in_progress" for step in plan)
    if under_way != 1 and not is_done(plan):
        raise InvalidRequest(
            f"{under_way} steps are in_progress; exactly one must be, unless all are completed. The plan is as it was"
        )
    return plan


def is_done(plan: Plan) -> bool:
    """Whether nothing is left to do."""
    return all(step.status == "completed" for step in plan)


def wire_plan(plan: Plan) -> list[dict[str, str]]:
    """The plan as clients get it, in the words of TodoWrite."""
    return [
        {"content": step.content, "status": step.status} | ({"activeForm": step.active} if step.active else {})
        for step in plan
    ]


def told(plan: Plan) -> str:
    """What the model is told when its plan has changed: the step to do now, so that it does not plan anew."""
    if not plan:
        return "There is no plan any more."
    if is_done(plan):
        return f"[Plan: all {len(plan)} steps are completed. Finish with your answer.]"
    number, step = _current(plan)
    after = next((each for each in plan[number:] if each.status == "pending"), None)
    then = f' Next: "{_short(after)}".' if after is not None else ""
    return (
        f'[Plan: step {number} of {len(plan)} is under way: "{_short(step)}". Follow the plan: do this step now, and '
        f"do not plan anew; once it is done, say so with TodoWrite.{then}]"
    )


def told_again(plan: Plan) -> str:
    """What the model is told with the next message of a person, while a plan is not done."""
    number, step = _current(plan)
    return (
        f'[Plan, from before this message: step {number} of {len(plan)} is under way: "{_short(step)}". If the message '
        "goes on with it, go on at this step; do not plan anew.]"
    )


def _current(plan: Plan) -> tuple[int, Step]:
    """The step in progress and its number; there is one in a plan that is not done."""
    return next((number, step) for number, step in enumerate(plan, 1) if step.status == "in_progress")


def _short(step: Step) -> str:
    text = " ".join(step.content.split())
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
