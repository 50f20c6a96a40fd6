"""Several turns of one session, and one request sent twice."""

import asyncio
from itertools import islice

from inline_snapshot import snapshot

from talaria.core.messages import Text, UserMessage
from talaria.ports.model import ModelRequest
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.server.serving import Shop, plain, serving, shown
from tests.server.sse import text_of

STREAM = "/ai-api/chat/stream"


def said(request: ModelRequest) -> list[str]:
    """What the user said so far."""
    messages = [message for message in request.prompt.messages if isinstance(message, UserMessage)]
    return [part.text for message in messages for part in message.parts if isinstance(part, Text)]


async def test_a_second_turn_waits_in_line_and_sees_the_first() -> None:
    gate = asyncio.Event()
    model = ScriptedModel(Say("one", gate=gate), Say("two"))
    async with serving(model) as served, served.client.chat("A", sessionId="s") as first:
        await first.until("run_started")
        async with served.client.chat("B", sessionId="s") as second:
            assert (await second.until("queued")).data["data"] == 1
            gate.set()
            assert (text_of(await first.rest()), text_of(await second.rest())) == ("one", "two")
    assert said(model.requests[1]) == ["A", "B"]


async def test_who_rejects_a_busy_session_is_409_with_the_run_that_is_in_the_way() -> None:
    gate = asyncio.Event()
    async with serving(ScriptedModel(Say("one", gate=gate))) as served:
        async with served.client.chat("A", sessionId="s") as first:
            await first.until("run_started")
            reply = await served.client.post(STREAM, {"query": "B", "sessionId": "s", "whenBusy": "reject"})
            gate.set()
            await first.rest()
        run_id = first.headers["x-run-id"]
    assert (reply.status, reply.json["runId"]) == (409, run_id)
    assert plain(reply.json) == snapshot(
        {
            "runId": "RUN",
            "type": "about:blank",
            "title": "Conflict",
            "status": 409,
            "detail": "session 's' is busy with another turn; wait for it, or send whenBusy queue or interrupt",
            "code": "conflict",
        }
    )


async def test_who_interrupts_a_busy_session_takes_its_place() -> None:
    model = ScriptedModel(Say("one two", chunk=4, gate=asyncio.Event()), Say("two"))
    async with serving(model) as served, served.client.chat("A", sessionId="s") as first:
        await first.until("token")
        second = await served.client.turn("B", sessionId="s", whenBusy="interrupt")
        events = await first.rest()
    assert events[-1].data["reason"] == "cancelled"
    assert text_of(second) == "two"
    assert said(model.requests[1]) == ["A", "B"]
    assert model.closed_early == 1


async def test_of_ten_requests_that_reject_a_busy_session_one_gets_it() -> None:
    gate = asyncio.Event()
    async with serving(ScriptedModel(Say("one", gate=gate))) as served:
        body = {"query": "A", "sessionId": "s", "whenBusy": "reject"}
        tasks = [asyncio.create_task(served.client.post(STREAM, body)) for _ in range(10)]
        refused = [await each for each in islice(asyncio.as_completed(tasks), 9)]
        gate.set()
        replies = await asyncio.gather(*tasks)
        statuses = [reply.status for reply in replies]
        assert {reply.status for reply in refused} == {409}
    assert sorted(statuses) == [200] + [409] * 9


async def test_turns_sent_at_the_same_time_make_one_serial_history() -> None:
    shop = Shop()

    def script(request: ModelRequest) -> Say:
        rounds = len(request.prompt.messages) - max(
            at for at, message in enumerate(request.prompt.messages) if isinstance(message, UserMessage)
        )
        return (
            Say(f"did {said(request)[-1]}") if rounds > 6 else Say(calls=(Call("look_up", {"order_id": str(rounds)}),))
        )

    async with serving(ScriptedModel(script=script), tools=shop.tools()) as served:
        queries = [f"Q{number}" for number in range(10)]
        answers = await asyncio.gather(*(served.client.turn(query, sessionId="s") for query in queries))
        session = (await served.client.get("/ai-api/sessions/s")).json
    assert [text_of(events) for events in answers] == [f"did {query}" for query in queries]
    roles = [message["role"] for message in session["messages"]]
    assert roles == (["user"] + ["assistant", "tool"] * 3 + ["assistant"]) * 10
    asked = [message["content"] for message in session["messages"] if message["role"] == "user"]
    assert sorted(asked) == queries


async def test_sessions_do_not_wait_for_each_other() -> None:
    model = ScriptedModel(
        script=lambda request: Say("done", gate=asyncio.Event() if said(request)[-1] == "A" else None)
    )
    async with serving(model) as served, served.client.chat("A", sessionId="a", onDisconnect="cancel") as first:
        await first.until("run_started")
        assert text_of(await served.client.turn("B", sessionId="b")) == "done"
        assert text_of(await served.client.turn("C", sessionId="a", userId="other")) == "done"


# The same request twice


async def test_the_same_idempotency_key_gives_the_run_that_it_started() -> None:
    model = ScriptedModel(Say("once"))
    async with serving(model) as served:
        async with served.client.chat("A", idempotencyKey="k", sessionId="s") as first:
            events = await first.rest()
        async with served.client.chat("A", idempotencyKey="k", sessionId="s") as second:
            again = await second.rest()
    assert second.headers["x-run-id"] == first.headers["x-run-id"]
    assert again == events
    model.check()


async def test_twenty_requests_with_one_key_at_the_same_time_are_one_run() -> None:
    model = ScriptedModel(Say("once"))
    async with serving(model) as served:
        streams = await asyncio.gather(*(served.client.turn("A", idempotencyKey="k") for _ in range(20)))
    assert {text_of(events) for events in streams} == {"once"}
    assert len({events[0].data["data"] for events in streams}) == 1


async def test_the_same_key_with_another_body_is_409_and_another_users_key_is_another_key() -> None:
    async with serving(ScriptedModel(Say("one"), Say("two"))) as served:
        await served.client.turn("A", idempotencyKey="k")
        other = await served.client.post(STREAM, {"query": "B", "idempotencyKey": "k"})
        assert text_of(await served.client.turn("B", idempotencyKey="k", userId="bob")) == "two"
    assert (other.status, plain(other.json)) == (
        409,
        snapshot(
            {
                "runId": "RUN",
                "type": "about:blank",
                "title": "Conflict",
                "status": 409,
                "detail": "this idempotencyKey belongs to another request of the last 24 hours; take a new one",
                "code": "conflict",
            }
        ),
    )


async def test_a_key_is_free_again_after_a_day() -> None:
    clock = FakeClock()
    async with serving(ScriptedModel(Say("one"), Say("two")), clock=clock) as served:
        await served.client.turn("A", idempotencyKey="k")
        clock.move(24 * 3600 + 1)
        assert text_of(await served.client.turn("A", idempotencyKey="k")) == "two"


async def test_a_refused_request_does_not_use_up_its_key() -> None:
    gate = asyncio.Event()
    async with serving(ScriptedModel(Say("one", gate=gate), Say("two"))) as served:
        async with served.client.chat("A", sessionId="s") as first:
            await first.until("run_started")
            body = {"query": "B", "sessionId": "s", "whenBusy": "reject", "idempotencyKey": "k"}
            assert (await served.client.post(STREAM, body)).status == 409
            gate.set()
            await first.rest()
        events = await served.client.turn("B", sessionId="s", whenBusy="reject", idempotencyKey="k")
    assert shown(events)[-1]["type"] == "finish"
