"""Several requests for one session, and more requests than there are places."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from talaria import Agent
from talaria.core.errors import Conflict, Overloaded
from talaria.core.messages import AssistantMessage, UserMessage
from talaria.ports.inbox import Letter
from talaria.ports.journal import IndexRow
from talaria.ports.model import ModelRequest
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.tools import Shop
from tests.runtime.world import assert_valid_wire, bounded, end_of, soon, text_of, world


def three_rounds(request: ModelRequest) -> Say:
    """Two rounds of calls, then an answer that says the question again."""
    last = max(at for at, message in enumerate(request.prompt.messages) if isinstance(message, UserMessage))
    since = request.prompt.messages[last:]
    rounds = sum(isinstance(message, AssistantMessage) for message in since)
    question: Any = since[0]
    word = question.parts[0].text
    return Say(calls=(Call("look", {"what": word}),)) if rounds < 2 else Say(f"Done with {word}.")


async def test_ten_requests_at_once_are_ten_turns_one_after_the_other(store: str) -> None:
    model = ScriptedModel(script=three_rounds)
    async with world(model, tools=Shop().tools, store=store) as here:
        runs = await bounded(asyncio.gather(*(here.send(f"q{at}") for at in range(10))))
        assert len(set(runs)) == 10
        for at, run_id in enumerate(runs):
            assert text_of(await here.events(run_id)) == f"Done with q{at}."
        messages = await here.messages()
        assert_valid_wire(messages)
        assert len(messages) == 60
        for start in range(0, 60, 6):
            turn = messages[start : start + 6]
            assert [message["role"] for message in turn] == ["user", *(["assistant", "tool"] * 2), "assistant"]
            assert turn[-1]["content"] == f"Done with {turn[0]['content']}."


async def test_sessions_do_not_wait_for_each_other(store: str) -> None:
    gate = asyncio.Event()
    model = ScriptedModel(
        script=lambda request: Say("Slow.", gate=gate, chunk=2) if "slow" in str(request.prompt.messages) else Say("Q.")
    )
    async with world(model, store=store) as here:
        slow = await here.send("slow", session_id="a")
        await here.until(slow, "token")
        assert end_of(await here.ask("quick", session_id="b")) == ("finish", "stop")
        gate.set()
        assert end_of(await here.events(slow)) == ("finish", "stop")


async def test_a_busy_session_refuses_who_asks_to_be_refused(store: str) -> None:
    gate = asyncio.Event()
    async with world(ScriptedModel(Say("Slow.", gate=gate, chunk=2), Say("Next.")), store=store) as here:
        first = await here.send()
        await here.until(first, "token")
        with pytest.raises(Conflict) as refused:
            await here.send(when_busy="reject")
        assert refused.value.current == {"runId": first}
        gate.set()
        await here.events(first)
        assert end_of(await here.ask(when_busy="reject")) == ("finish", "stop")


async def test_of_ten_requests_at_once_that_will_not_wait_one_runs(store: str) -> None:
    gate = asyncio.Event()
    model = ScriptedModel(Say("Slow.", gate=gate, chunk=2))
    async with world(model, store=store) as here:
        asked = [here.send(when_busy="reject") for _ in range(10)]
        answers = await bounded(asyncio.gather(*asked, return_exceptions=True))
        runs = [answer for answer in answers if isinstance(answer, str)]
        assert len(runs) == 1
        assert all(isinstance(answer, str | Conflict) for answer in answers)
        gate.set()
        assert end_of(await here.events(runs[0])) == ("finish", "stop")


async def test_an_interrupting_request_ends_the_turns_before_it(store: str) -> None:
    gate = asyncio.Event()
    model = ScriptedModel(Say("Slow.", gate=gate, chunk=2), Say("Now."))
    async with world(model, store=store) as here:
        first = await here.send()
        await here.until(first, "token")
        second = await here.send()
        third = await here.send(when_busy="interrupt")
        assert end_of(await here.events(first)) == ("finish", "cancelled")
        assert end_of(await here.events(second)) == ("finish", "cancelled")
        assert text_of(await here.events(third)) == "Now."
        assert_valid_wire(await here.messages())


async def test_interrupting_at_any_moment_runs_the_last_turn(store: str) -> None:
    model = ScriptedModel(script=three_rounds)
    async with world(model, tools=Shop().tools, store=store) as here:
        for pause in range(30):
            first = await here.send("one")
            for _ in range(pause):
                await asyncio.sleep(0)
            second = await here.send("two", when_busy="interrupt")
            assert text_of(await here.events(second)) == "Done with two."
            assert end_of(await here.events(first))[0] == "finish"
        assert_valid_wire(await here.messages())
        await here.idle()


async def test_when_every_place_is_taken_a_request_waits_and_then_is_refused(store: str) -> None:
    gate = asyncio.Event()
    model = ScriptedModel(script=lambda _: Say("Slow.", gate=gate, chunk=2))
    async with world(model, store=store, server={"maxRuns": 2, "queue": 1}) as here:
        running = [await here.send(session_id=f"r-{at}") for at in range(2)]
        for run_id in running:
            await here.until(run_id, "token")
        waiting = await here.send(session_id="w")
        assert (await here.until(waiting, "queued")).data == 1
        await soon(lambda: here.parts.engine.lined_up == 1, "the third one waiting")
        with pytest.raises(Overloaded) as refused:
            await here.send(session_id="x")
        assert refused.value.retry_after
        gate.set()
        for run_id in (*running, waiting):
            assert end_of(await here.events(run_id)) == ("finish", "stop")
        assert end_of(await here.ask(session_id="x")) == ("finish", "stop")


async def test_a_burst_gets_as_many_places_as_there_are(store: str) -> None:
    gate = asyncio.Event()
    model = ScriptedModel(script=lambda _: Say("Slow.", gate=gate, chunk=2))
    async with world(model, store=store, server={"maxRuns": 3, "queue": 4}) as here:
        asked = [here.send(session_id=f"s-{at}") for at in range(40)]
        answers = await bounded(asyncio.gather(*asked, return_exceptions=True))
        runs = [answer for answer in answers if isinstance(answer, str)]
        assert len(runs) == 7
        assert sum(isinstance(answer, Overloaded) for answer in answers) == 33
        gate.set()
        for run_id in runs:
            assert end_of(await here.events(run_id)) == ("finish", "stop")
        await here.idle()
        assert end_of(await here.ask()) == ("finish", "stop")


async def test_a_session_has_a_line_of_a_bounded_length() -> None:
    gate = asyncio.Event()
    model = ScriptedModel(script=lambda _: Say("Slow.", gate=gate, chunk=2))
    async with world(model, server={"maxRuns": 5, "queue": 3}) as here:
        first = await here.send()
        await here.until(first, "token")
        rest = [await here.send() for _ in range(3)]
        with pytest.raises(Overloaded):
            await here.send()
        gate.set()
        for run_id in (first, *rest):
            assert end_of(await here.events(run_id)) == ("finish", "stop")


async def test_a_burst_into_one_session_fills_its_line_and_no_more(store: str) -> None:
    gate = asyncio.Event()
    model = ScriptedModel(script=lambda _: Say("Slow.", gate=gate, chunk=2))
    async with world(model, store=store, server={"maxRuns": 50, "queue": 5}) as here:
        answers = await bounded(asyncio.gather(*(here.send() for _ in range(40)), return_exceptions=True))
        runs = [answer for answer in answers if isinstance(answer, str)]
        assert all(isinstance(answer, str | Overloaded) for answer in answers)
        assert len(runs) in (5, 6)  # five wait; one runs, or has not begun yet and waits too
        await here.until(runs[0], "token")
        more = await bounded(asyncio.gather(*(here.send() for _ in range(40)), return_exceptions=True))
        runs += [answer for answer in more if isinstance(answer, str)]
        assert len(runs) == 6
        gate.set()
        for run_id in runs:
            assert end_of(await here.events(run_id)) == ("finish", "stop")
        await here.idle()
        assert end_of(await here.ask()) == ("finish", "stop")


async def test_a_request_that_will_not_wait_sees_every_one_that_is_on_its_way(sqlite: str) -> None:
    gate = asyncio.Event()
    model = ScriptedModel(script=lambda _: Say("Slow.", gate=gate, chunk=2))
    async with world(model, store=sqlite) as here:
        put, hold = here.store.inbox.put, asyncio.Event()

        async def slowly(letter: Letter, *, replace_before: int = 0, index: Sequence[IndexRow] = ()) -> Letter:
            await hold.wait()
            return await put(letter, replace_before=replace_before, index=index)

        here.store.inbox.put = slowly
        first, last = (asyncio.create_task(here.send(word)) for word in ("first", "last"))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait([first])
        with pytest.raises(Conflict):
            await here.send(when_busy="reject")
        hold.set()
        gate.set()
        assert end_of(await here.events(await bounded(last))) == ("finish", "stop")


async def test_the_same_key_at_once_is_one_run(store: str) -> None:
    model = ScriptedModel(Say("Once."))
    async with world(model, store=store) as here:
        asked = [here.submit(idempotency_key="k") for _ in range(20)]
        answers = await bounded(asyncio.gather(*asked))
        assert len({answer.run_id for answer in answers}) == 1
        assert sum(answer.is_new for answer in answers) == 1
        assert text_of(await here.events(answers[0].run_id)) == "Once."
        again = await here.submit(idempotency_key="k")
        assert (again.run_id, again.is_new) == (answers[0].run_id, False)
        with pytest.raises(Conflict, match="another request"):
            await here.submit("Other", idempotency_key="k")
    model.check()


async def test_a_key_is_forgotten_after_a_day(store: str) -> None:
    async with world(ScriptedModel(Say("One."), Say("Two.")), store=store) as here:
        first = await here.send(idempotency_key="k")
        await here.events(first)
        here.clock.move(24 * 3600)
        assert await here.send(idempotency_key="k") == first
        here.clock.move(1)
        second = await here.send(idempotency_key="k")
        assert second != first
        assert text_of(await here.events(second)) == "Two."


async def test_keys_of_different_users_are_different() -> None:
    from talaria import Principal  # noqa: PLC0415

    async with world(ScriptedModel(Say("One."), Say("Two."))) as here:
        mine = await here.submit(idempotency_key="k")
        other = await here.submit(idempotency_key="k", principal=Principal(user="you"))
        assert mine.run_id != other.run_id


async def test_a_program_that_repeats_a_request_gets_the_same_result(store: str) -> None:
    agent = Agent("a")
    async with world(ScriptedModel(Say("Once."), Say("Later.")), store=store) as here:
        asked = [here.runtime.run(agent, "Go", session="s", idempotency_key="k") for _ in range(5)]
        results = await bounded(asyncio.gather(*asked))
        assert {(result.run_id, result.output) for result in results} == {(results[0].run_id, "Once.")}
        await bounded(here.runtime.run(agent, "More", session="s"))
        again = await bounded(here.runtime.run(agent, "Go", session="s", idempotency_key="k"))
        assert (again.output, len(again.messages)) == ("Once.", 2)


async def test_who_gives_up_waiting_for_a_run_takes_nothing_from_the_others() -> None:
    gate = asyncio.Event()
    agent = Agent("a")
    async with world(ScriptedModel(Say("Once.", gate=gate, chunk=2))) as here:
        tasks = [asyncio.create_task(here.runtime.run(agent, "Go", session="s", idempotency_key="k")) for _ in range(3)]
        await soon(lambda: here.parts.engine.running == 1, "the run")
        tasks[0].cancel()
        tasks[1].cancel()
        await asyncio.wait(tasks[:2])
        gate.set()
        assert (await bounded(tasks[2])).output == "Once."


async def test_a_turn_without_memory_has_the_history_it_brings_and_leaves_none(store: str) -> None:
    model = ScriptedModel(Say("With memory."), Say("Without."), Say("With again."))
    history: list[Any] = [
        {"role": 1, "content": "Look"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "name": "look", "arguments": {}}]},
        {"role": 2, "content": "I looked."},
    ]
    async with world(model, store=store) as here:
        await here.ask("First")
        assert text_of(await here.ask("Second", use_server_memory=False, history=history)) == "Without."
        await here.ask("Third")
        assert len(await here.messages()) == 4
        assert (await here.parts.lookup.sessions(_everyone()))["sessions"][0]["turns"] == 2
    roles = [type(message).__name__ for message in model.prompts[1]]
    assert roles == ["UserMessage", "AssistantMessage", "ToolMessage", "AssistantMessage", "UserMessage"]


def _everyone() -> Any:
    from tests.runtime.world import ME  # noqa: PLC0415

    return ME
