"""A conversation over the Messages dialect: blocks go back as they came, also after a restart; caching is priced."""

from pathlib import Path
from typing import Any

import pytest

from talaria import Runtime, tool
from talaria.testing.clock import FakeClock
from talaria.testing.model_server import ModelServer
from talaria.testing.scripted_model import ScriptedModel
from talaria.testing.steps import Step
from tests.models.anthropic_requests import unmarked
from tests.models.field_cases import messages_sse
from tests.runtime.world import World, end_of


@tool
async def look() -> str:
    """Look around."""
    return "seen"


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def block(index: int, first: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    start = event("content_block_start", index=index, content_block=first)
    pieces = [event("content_block_delta", index=index, delta=delta) for delta in deltas]
    return [start, *pieces, event("content_block_stop", index=index)]


def spoken(reason: str, *blocks: list[dict[str, Any]]) -> Step:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 1_000, "cache_creation_input_tokens": 100}
    start = event("message_start", message={"role": "assistant", "content": [], "usage": usage})
    over = event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 5})
    events = [start, *(each for many in blocks for each in many), over, event("message_stop")]
    return Step(raw=(messages_sse(events).decode(),))


LOOKS = spoken(
    "tool_use",
    block(0, {"type": "thinking", "thinking": "", "signature": ""}, {"type": "signature_delta", "signature": "SIG"}),
    block(1, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Looking."}),
    block(2, {"type": "redacted_thinking", "data": "OPAQUE"}),
    block(3, {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}),
)
SAYS = spoken("end_turn", block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}))


async def ask(server: ModelServer, folder: Path, query: str) -> float:
    """Ask in a runtime of its own; return what it cost."""
    route = {"prefix": "", "baseUrl": server.base_url.removesuffix("/v1"), "dialect": "anthropic"}
    settings = {"store": {"url": f"sqlite:///{folder}/talaria.db"}, "models": [route]}
    clock = FakeClock()
    async with Runtime({**settings, "defaultModel": "claude-opus-5-5"}, clock=clock, tools=[look]) as runtime:
        events = await World(runtime, ScriptedModel(), clock).ask(query, thinking="enabled")
    assert end_of(events) == ("finish", "stop")
    usage = events[-1].usage
    assert usage is not None
    assert usage.cost is not None
    return usage.cost


async def test_blocks_go_back_in_their_order_within_a_turn_and_after_a_restart(tmp_path: Path) -> None:
    async with ModelServer([LOOKS, SAYS, SAYS]) as server:
        cost = await ask(server, tmp_path, "Go")
        await ask(server, tmp_path, "Again")
    assert cost == pytest.approx(2 * (10 * 4 + 1_000 * 0.2 + 100 * 5 + 5 * 20) / 1e6)
    assert {request.path for request in server.requests} == {"/v1/messages"}
    first, second, third = (unmarked(request.body) for request in server.requests)
    assert second["messages"][0] == first["messages"][0]
    assert second["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "", "signature": "SIG"},
        {"type": "text", "text": "Looking."},
        {"type": "redacted_thinking", "data": "OPAQUE"},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}},
    ]
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "seen"}
    assert second["messages"][2:] == [{"role": "user", "content": [result]}]
    assert third["messages"][:3] == second["messages"]
    assert (third["system"], third["tools"]) == (first["system"], first["tools"])
