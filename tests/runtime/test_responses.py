"""A conversation over the Responses dialect: what its model thought goes back as it came, also after a restart."""

from itertools import groupby
from pathlib import Path
from typing import Any

from talaria import Runtime, tool
from talaria.testing.clock import FakeClock
from talaria.testing.model_server import ModelServer
from talaria.testing.scripted_model import ScriptedModel
from talaria.testing.steps import Step
from tests.models.responses_wire import call, calling, created, ended, message, reasoning, saying, sse, thinking
from tests.runtime.world import World, end_of

THOUGHT = reasoning("I look first.")
CALL = call("a", "{}", "look")
NOTE = message("Looking.", phase="commentary")
DONE = message("Done.", "msg_2", phase="final_answer")


@tool
async def look() -> str:
    """Look around."""
    return "seen"


def spoken(*events: dict[str, Any]) -> Step:
    return Step(raw=(sse([*created(), *events]).decode(),))


LOOKS = spoken(
    *thinking(THOUGHT, ["I look ", "first."]),
    *saying(NOTE, "Looking.", at=1),
    *calling(CALL, "{}", at=2),
    ended("completed", [THOUGHT, NOTE, CALL]),
)
SAYS = spoken(*saying(DONE, "Do", "ne."), ended("completed", [DONE]))


async def ask(server: ModelServer, folder: Path, query: str) -> list[tuple[str, str]]:
    """Ask in a runtime of its own; return the reasoning and text that its client got.

    How they are cut into events may differ: a client that comes when the run is over has each whole.
    """
    route = {"prefix": "", "baseUrl": server.base_url, "dialect": "responses"}
    settings = {"store": {"url": f"sqlite:///{folder}/talaria.db"}, "models": [route], "defaultModel": "gpt-5.6"}
    clock = FakeClock()
    async with Runtime(settings, clock=clock, tools=[look]) as runtime:
        events = await World(runtime, ScriptedModel(), clock).ask(query, thinking="enabled")
    assert end_of(events) == ("finish", "stop")
    told = [(kind, list(group)) for kind, group in groupby(events, lambda event: event.type)]
    return [
        (kind, "".join(str(event.data) for event in group)) for kind, group in told if kind in {"token", "reasoning"}
    ]


async def test_reasoning_goes_back_item_by_item_within_a_turn_and_after_a_restart(tmp_path: Path) -> None:
    async with ModelServer([LOOKS, SAYS, SAYS]) as server:
        assert await ask(server, tmp_path, "Go") == [
            ("reasoning", "I look first."),
            ("token", "Looking."),
            ("token", "Done."),
        ]
        await ask(server, tmp_path, "Again")
    first, second, third = (request.body for request in server.requests)
    assert {request.path for request in server.requests} == {"/v1/responses"}
    assert first["reasoning"] == {"effort": "medium", "summary": "auto"}
    assert first["input"] == second["input"][:1]
    thought, note, looked, seen = second["input"][1:]
    assert thought == THOUGHT
    assert (note["id"], note["phase"]) == ("msg_1", "commentary")
    assert (looked["id"], looked["call_id"], looked["name"]) == ("fc_a", "a", "look")
    assert seen == {"type": "function_call_output", "call_id": "a", "output": "seen"}
    assert third["input"][: len(second["input"])] == second["input"]
    assert third["input"][len(second["input"])] == {
        "phase": "final_answer",
        "type": "message",
        "role": "assistant",
        "content": "Done.",
    }
