"""Coming back to a stream: with any id that a client has, it gets exactly what it has not seen."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria.testing.scripted_model import Call, Restarted, Say, ScriptedModel
from tests.server.client import Client
from tests.server.serving import Shop, serving, shown
from tests.server.sse import Event, text_of

TEXT = ("token", "reasoning", "rewind")


def script(gate: asyncio.Event | None = None) -> tuple[Say | Restarted, ...]:
    """Reasoning, text, two calls, an attempt that is void, and an answer that may be held before its end."""
    return (
        Say("Let me see. 😀", "Two orders.", tuple(Call("look_up", {"order_id": each}) for each in "12"), chunk=3),
        Restarted("It is 4", Say("They are 40 EUR each. Is that all?", "Both cost 40.", chunk=4, gate=gate)),
    )


def check_rest(whole: list[Event], at: int, rest: list[Event]) -> None:
    """What a client shows that saw `whole[: at + 1]` and then `rest` is what one shows that saw all of it."""
    both = whole[: at + 1] + rest
    for kind in ("token", "reasoning"):
        assert text_of(both, kind) == text_of(whole, kind)
    assert facts(both) == facts(whole)


def facts(events: list[Event]) -> list[tuple[str | None, Any]]:
    """Everything but text, which may be cut differently, and notices, which are not repeated."""
    return [(event.id, event.data) for event in events if event.type not in (*TEXT, "notice")]


async def rest_after(client: Client, run_id: str, after: str | None) -> list[Event]:
    async with client.events(run_id, after) as stream:
        assert stream.status == 200
        return await stream.rest()


async def test_an_ended_run_is_replayed_from_every_id() -> None:
    async with serving(ScriptedModel(*script()), tools=Shop().tools()) as served:
        async with served.client.chat() as stream:
            whole = await stream.rest()
        run_id = stream.headers["x-run-id"]
        for at, event in enumerate(whole):
            if event.id is not None:
                check_rest(whole, at, await rest_after(served.client, run_id, event.id))
        check_rest(whole, -1, await rest_after(served.client, run_id, None))


async def test_an_ended_run_is_replayed_from_the_journal_alone(tmp_path: Path) -> None:
    store = {"url": f"sqlite:///{tmp_path}/t.db"}
    async with (
        serving(ScriptedModel(*script()), tools=Shop().tools(), store=store) as served,
        served.client.chat() as stream,
    ):
        whole = await stream.rest()
    run_id = stream.headers["x-run-id"]
    async with serving(ScriptedModel(), tools=Shop().tools(), store=store) as served:
        for at, event in enumerate(whole):
            if event.id is not None:
                check_rest(whole, at, await rest_after(served.client, run_id, event.id))


async def test_a_live_run_goes_on_from_every_id() -> None:
    gate = asyncio.Event()
    async with serving(ScriptedModel(*script(gate)), tools=Shop().tools()) as served, served.client.chat() as stream:
        run_id = stream.headers["x-run-id"]
        while not text_of(stream.seen).endswith("Is that al"):
            await stream.event()
        ids = [(at, event.id) for at, event in enumerate(stream.seen) if event.id is not None]
        late = [asyncio.create_task(rest_after(served.client, run_id, after)) for _, after in ids]
        gate.set()
        await stream.rest()
        whole = stream.seen
        for (at, _), rest in zip(ids, await asyncio.gather(*late), strict=True):
            check_rest(whole, at, rest)
    assert text_of(whole) == "Let me see. 😀They are 40 EUR each. Is that all?"


async def test_an_attempt_that_is_void_is_taken_back_by_a_rewind() -> None:
    model = ScriptedModel(Restarted("It is 4", Say("It is 50.")))
    async with serving(model) as served:
        events = await served.client.turn()
    rewound = next(event for event in events if event.type == "rewind")
    assert rewound.data["data"] == events[0].id
    assert [event.type for event in events] == snapshot(["run_started", "token", "rewind", "notice", "token", "finish"])
    assert text_of(events) == "It is 50."


async def test_a_restart_in_the_middle_of_an_answer_is_a_rewind_for_who_had_part_of_it(tmp_path: Path) -> None:
    store = {"url": f"sqlite:///{tmp_path}/t.db"}
    stuck = asyncio.Event()
    async with (
        serving(ScriptedModel(Say("One two three", chunk=4, gate=stuck)), store=store) as served,
        served.client.chat() as stream,
    ):
        run_id = stream.headers["x-run-id"]
        while not text_of(stream.seen):
            await stream.event()
        await served.app.stop(0)
        before = [*stream.seen, *await stream.rest()]
    assert "finish" not in [event.type for event in before]
    async with serving(ScriptedModel(Say("Un deux trois")), store=store) as served:
        for at, event in enumerate(before):
            rest = await rest_after(served.client, run_id, event.id)
            assert text_of(before[: at + 1] + rest) == "Un deux trois"
            assert rest[-1].type == "finish"
        assert shown(await rest_after(served.client, run_id, before[-1].id)) == snapshot(
            [
                {"type": "rewind", "data": "RUN/2.0"},
                {"type": "token", "data": "Un deux trois"},
                {"type": "finish", "reason": "stop", "usage": {"inputTokens": 10, "outputTokens": 5}},
            ]
        )


@pytest.mark.parametrize(
    "after",
    [
        "",
        "nonsense",
        "{run}",
        "{run}/",
        "{run}/x",
        "{run}/1.2.3",
        "run_0/2.0",
        "/2.0",
        "{run}/99.0",
        "{run}/-1.0",
        "{run}/²",
    ],
)
async def test_a_foreign_or_malformed_id_is_400(after: str) -> None:
    async with serving(ScriptedModel(Say("Hello"))) as served:
        async with served.client.chat() as stream:
            await stream.rest()
        run_id = stream.headers["x-run-id"]
        given = after.format(run=run_id) or "?"
        reply = await served.client.get(f"/ai-api/runs/{run_id}/events?after={given}")
    assert (reply.status, reply.json["code"]) == (400, "invalid_request")


async def test_the_header_wins_over_the_query() -> None:
    async with serving(ScriptedModel(Say("Hello"))) as served:
        async with served.client.chat() as stream:
            whole = await stream.rest()
        run_id = stream.headers["x-run-id"]
        path = f"/ai-api/runs/{run_id}/events?after={whole[0].id}"
        by_query = await served.client.get(path)
        by_header = await served.client.get(path, headers={"last-event-id": str(whole[-1].id)})
    assert (b"Hello" in by_query.body, b"data:" in by_header.body) == (True, False)


async def test_many_readers_of_one_run_get_the_same_bytes() -> None:
    gate = asyncio.Event()
    async with serving(ScriptedModel(Say("Hello you", chunk=1, gate=gate))) as served, served.client.chat() as stream:
        await stream.until("run_started")
        run_id = stream.headers["x-run-id"]

        async def read() -> bytes:
            return (await served.client.get(f"/ai-api/runs/{run_id}/events")).body

        readers = [asyncio.create_task(read()) for _ in range(5)]
        await asyncio.sleep(0)
        gate.set()
        bodies = set(await asyncio.gather(*readers))
    assert len(bodies) == 1
