"""Typed answers over HTTP: the schema is checked, and whoever comes back sees only the valid answer."""

from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria.testing.scripted_model import Say, ScriptedModel
from tests.server.serving import serving, shown
from tests.server.sse import Event

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
CONFIG: dict[str, Any] = {"models": [{"prefix": "", "baseUrl": "http://model.test/v1"}], "defaultModel": "gpt-x"}


def text(events: list[Event]) -> str:
    """What a client has that drops what it is told to drop."""
    kept: list[tuple[str | None, str]] = []
    for event in events:
        if event.type == "rewind":
            at = [id_ for id_, _ in kept].index(event.data["data"])
            kept = [*kept[: at + 1], *((id_, "") for id_, _ in kept[at + 1 :])]
        kept.append((event.id, event.data["data"] if event.type == "token" else ""))
    return "".join(piece for _, piece in kept)


async def test_a_client_that_comes_back_with_any_id_sees_only_the_valid_answer() -> None:
    model = ScriptedModel(Say("Seven, I think.", chunk=5), Say('{"n": 7}', chunk=3))
    async with serving(model, **CONFIG) as served:
        events = await served.client.turn(outputSchema=SCHEMA)
        assert shown([events[-1]]) == snapshot(
            [{"type": "finish", "data": '{"n": 7}', "reason": "stop", "usage": {"inputTokens": 20, "outputTokens": 10}}]
        )
        assert text(events) == '{"n": 7}'
        run_id = events[0].data["data"]
        for at, event in enumerate(events):
            async with served.client.events(run_id, event.id) as stream:
                rest = await stream.rest()
            assert text([*events[: at + 1], *rest]) == '{"n": 7}'


async def test_a_schema_that_is_none_is_422_and_named() -> None:
    async with serving(ScriptedModel(), **CONFIG) as served:
        reply = await served.client.post("/ai-api/chat/stream", {"query": "x", "outputSchema": {"type": "obj"}})
        assert (reply.status, reply.json["code"]) == (422, "invalid_request")
        assert reply.json["errors"][0]["field"] == "outputSchema"


@pytest.mark.parametrize("schema", [True, "object", [], 1])
async def test_a_schema_is_an_object(schema: Any) -> None:
    async with serving(ScriptedModel(), **CONFIG) as served:
        reply = await served.client.post("/ai-api/chat/stream", {"query": "x", "outputSchema": schema})
        assert (reply.status, reply.json["errors"][0]["field"]) == (422, "outputSchema")
