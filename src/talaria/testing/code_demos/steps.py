"""What the scripted programmers have in common: where a turn stands, and steps at the pace of a model."""

from typing import Any

from talaria.testing.model_server import since_user
from talaria.testing.ops_report.conversation import read_answers
from talaria.testing.steps import Step

PACE = 0.004
CHUNK = 24


def say(text: str = "", *calls: tuple[str, dict[str, Any]]) -> Step:
    """Return a step with some words and calls."""
    return Step(text, calls=calls, chunk=CHUNK, pace=PACE, usage=(1200, 200))


def round_of(body: dict[str, Any]) -> int:
    """Return how many times the model has answered in this turn."""
    return since_user(body, "assistant")


def last_result(body: dict[str, Any]) -> str:
    """Return what the newest tool call brought, "" if there is none."""
    return ([""] + [each.text for each in read_answers(body.get("messages", []))])[-1]
