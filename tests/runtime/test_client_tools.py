"""Client tools: the caller runs their calls, and what came of one is waited for as durably as a decision."""

import asyncio
from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria import Agent, ChatEvent, Principal
from talaria.core.errors import Conflict, InvalidRequest, NotFound
from talaria.core.messages import UserMessage
from talaria.core.redaction import MASK
from talaria.core.subagents import Subagent
from talaria.journal.entries import ApprovalRequested
from talaria.journal.session import load_entry
from talaria.journal.views import entry_events
from talaria.ports.model import ModelRequest
from talaria.runtime.desk import LONGEST_RESULT
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel, Step
from tests.runtime.tools import Shop
from tests.runtime.world import ME, World, assert_valid_wire, end_of, told, world

LOCATE: dict[str, Any] = {
    "platform": "client",
    "name": "locate",
    "description": "Say where the user is.",
    "inputSchema": {"type": "object", "properties": {"precise": {"type": "boolean"}}},
}
AGENT = Agent("guide", tools=["AskUser"])
CALL = Call("locate", {"precise": True})


async def send(here: World, *tools: dict[str, Any], **fields: Any) -> str:
    return await here.send(externalTools=list(tools or (LOCATE,)), **fields)


async def handed(here: World, run_id: str, kind: str = "tool_call") -> str:
    """The id under which the caller is asked to run a call."""
    event = await here.until(run_id, kind)
    assert event.tool_calls is not None
    assert len(event.tool_calls) == 1
    return str(event.data)


async def results(here: World) -> list[str]:
    return [message["content"] for message in await here.messages() if message["role"] == "tool"]


def shown(events: list[ChatEvent]) -> list[str]:
    """What was told, results by their name only: what comes from outside is fenced with a word of chance."""
    return [line.partition(":")[0] if line.startswith("tool_result") else line for line in told(events)]


async def test_the_caller_is_told_of_a_call_by_itself_and_the_model_gets_its_result_as_data(store: str) -> None:
    model = ScriptedModel(CALL, Say("You are in Paris."))
    async with world(model, store=store, agents=[AGENT]) as here:
        run_id = await send(here)
        event = await here.until(run_id, "tool_call")
        await here.stands(run_id, "waiting_approval")
        view = await here.runtime.tool_result(str(event.data), {"city": "Paris"})
        assert (view["decision"], view["answer"]) == ("answered", '{"city":"Paris"}')
        assert shown(await here.events(run_id)) == snapshot(
            [
                "run_started",
                'tool_call locate{"precise":true}',
                "approval_resolved answered",
                "tool_started locate",
                "tool_result locate",
                "token You are in Paris.",
                "finish stop",
            ]
        )
        assert (event.step, event.expires_at is not None) == (1, True)
        assert [spec.name for spec in model.requests[0].prompt.tools] == ["AskUser", "recall", "locate"]
        (said,) = await results(here)
        assert '{"city":"Paris"}' in said
        assert said != '{"city":"Paris"}'
        assert_valid_wire(await here.messages())


async def test_a_call_of_a_round_that_the_caller_runs_is_not_told_of_among_the_others(store: str) -> None:
    shop = Shop()
    model = ScriptedModel(Say(calls=(Call("look"), CALL, Call("locate"), Call("sell", {"what": "a"}))), Say("So."))
    async with world(model, store=store, tools=shop.tools) as here:
        run_id = await send(here)
        await here.stands(run_id, "waiting_approval")
        assert sorted(shop.done) == ["look shelf", "sell a"]
        ids = [event for event in await seen(here, run_id) if event.type == "tool_call"]
        assert [[call.name for call in event.tool_calls or ()] for event in ids] == [
            ["look", "sell"],
            ["locate"],
            ["locate"],
        ]
        for event in reversed(ids[1:]):
            await here.runtime.tool_result(str(event.data), next(iter(event.tool_calls or ())).id)
        assert end_of(await here.events(run_id)) == ("finish", "stop")
        said = await results(here)
        assert ["scripted_2" in said[1], "scripted_3" in said[2]] == [True, True]
        assert_valid_wire(await here.messages())


async def seen(here: World, run_id: str) -> list[ChatEvent]:
    """The events of a run that waits."""
    key = await here.parts.lookup.place(ME, run_id)
    entries = await here.parts.kit.store.journal.read(key.path)
    loaded = [(record.seq, await load_entry(here.store.blobs, key.path, record)) for record in entries]
    return [event for seq, entry in loaded for _, event in entry_events(seq, key.session, entry)]


async def test_the_first_result_is_in_force_after_a_restart_too(sqlite: str) -> None:
    async with world(ScriptedModel(CALL), store=sqlite, agents=[AGENT]) as here:
        run_id = await send(here)
        request_id = await handed(here, run_id)
        await here.stands(run_id, "waiting_approval")
    model = ScriptedModel(Say("Paris it is."))
    async with world(model, store=sqlite, agents=[AGENT]) as here:
        view = await here.runtime.tool_result(request_id, "Paris")
        assert await here.runtime.tool_result(request_id, "Paris") == view
        others: list[dict[str, Any]] = [{"result": "Rome"}, {"result": "Paris", "is_error": True}]
        for other in others:
            with pytest.raises(Conflict, match="answered before"):
                await here.runtime.tool_result(request_id, **other)
        with pytest.raises(Conflict, match="answered before"):
            await here.decide(request_id, approve=False)
        assert end_of(await here.events(run_id)) == ("finish", "stop")
        assert "Paris" in (await results(here))[0]
        assert [spec.name for spec in model.requests[0].prompt.tools] == ["AskUser", "recall", "locate"]
        with pytest.raises(Conflict, match="answered before"):
            await here.runtime.tool_result(request_id, "Rome")


async def test_a_result_that_says_that_the_call_failed_is_an_error_in_the_callers_words(store: str) -> None:
    async with world(ScriptedModel(CALL, Say("Hm.")), store=store, agents=[AGENT]) as here:
        run_id = await send(here)
        view = await here.runtime.tool_result(await handed(here, run_id), "no signal", is_error=True)
        assert view["isError"] is True
        (result,) = [each for event in await here.events(run_id) for each in event.tool_results or ()]
        assert (result.is_error, "no signal" in result.result) == (True, True)


async def test_a_call_without_a_result_in_time_has_expired_and_its_outcome_is_unknown(store: str) -> None:
    clock = FakeClock()
    async with world(ScriptedModel(CALL, Say("So be it.")), store=store, clock=clock, agents=[AGENT]) as here:
        run_id = await send(here)
        request_id = await handed(here, run_id)
        await here.stands(run_id, "waiting_approval")
        clock.move(301)
        assert "approval_resolved expired" in told(await here.events(run_id))
        assert await results(here) == ["It is not known whether this call took effect: no result came in time."]
        with pytest.raises(Conflict, match="expired before"):
            await here.runtime.tool_result(request_id, "Paris")


@pytest.mark.parametrize("end", ["cancelled", "superseded"])
async def test_a_call_ends_with_its_run_and_may_have_had_an_effect(store: str, end: str) -> None:
    async with world(ScriptedModel(CALL, Say("Next.")), store=store, agents=[AGENT]) as here:
        run_id = await send(here)
        request_id = await handed(here, run_id)
        await here.stands(run_id, "waiting_approval")
        if end == "cancelled":
            await here.cancel(run_id)
        else:
            await here.ask("Never mind.")
        events = await here.events(run_id)
        assert end_of(events) == ("finish", "cancelled")
        assert f"approval_resolved {end}" in told(events)
        assert "not known whether" in (await results(here))[0]
        with pytest.raises(Conflict, match=f"{end} before"):
            await here.runtime.tool_result(request_id, "Paris")
        assert_valid_wire(await here.messages())


@pytest.mark.parametrize("ticks", range(10))
async def test_a_result_as_the_run_is_cancelled_is_in_force_or_refused_never_both(ticks: int) -> None:
    async with world(ScriptedModel(CALL, Say("So.", chunk=1)), agents=[AGENT]) as here:
        run_id = await send(here)
        request_id = await handed(here, run_id)
        cancelling = asyncio.ensure_future(here.cancel(run_id))
        for _ in range(ticks):
            await asyncio.sleep(0)
        try:
            outcome = (await here.runtime.tool_result(request_id, "Paris"))["decision"]
        except Conflict:
            outcome = "cancelled"
        await cancelling
        resolved = [line for line in told(await here.events(run_id)) if line.startswith("approval_resolved")]
        assert resolved == [f"approval_resolved {outcome}"]
        assert_valid_wire(await here.messages())


async def test_consent_comes_first_and_the_caller_gets_the_arguments_that_a_person_agreed_to(store: str) -> None:
    rules = [{"ask": "source:external"}]
    async with world(ScriptedModel(CALL, Say("So.")), store=store, agents=[AGENT], policy={"rules": rules}) as here:
        run_id = await send(here)
        with pytest.raises(InvalidRequest, match="precise"):
            await here.decide(await here.question(run_id), arguments={"precise": 7.5})
        await here.decide(await here.question(run_id), arguments={"precise": False})
        event = await here.until(run_id, "tool_call")
        assert [call.arguments for call in event.tool_calls or ()] == ['{"precise":false}']
        await here.runtime.tool_result(str(event.data), "Paris")
        assert end_of(await here.events(run_id)) == ("finish", "stop")
        (said,) = await results(here)
        assert said.startswith('[A person changed the arguments before this ran, to {"precise":false}.]')


async def test_what_may_not_run_never_reaches_the_caller(store: str) -> None:
    model = ScriptedModel(Call("locate", {"precise": "perhaps"}), CALL, Say("So."))
    rules = [{"deny": "source:external", "when": "args.precise"}]
    async with world(model, store=store, agents=[AGENT], policy={"rules": rules}) as here:
        events = await here.events(await send(here))
        assert end_of(events) == ("finish", "stop")
        assert [each for each in await here.entries() if isinstance(each, ApprovalRequested)] == []
        first, second = await results(here)
        assert "precise" in first
        assert second.startswith("Not run: a rule denies 'locate'")


async def test_only_the_user_may_say_what_came_of_it_and_nobody_decides_about_it() -> None:
    approval = {"approvers": ["boss"]}
    boss = Principal(user="bob", roles=("boss",))
    async with world(ScriptedModel(CALL, Say("So.")), agents=[AGENT], approval=approval) as here:
        run_id = await send(here)
        request_id = await handed(here, run_id)
        for who in (boss, Principal(user="mallory"), Principal("umbrella")):
            with pytest.raises(NotFound):
                await here.runtime.tool_result(request_id, "Rome", principal=who)
        with pytest.raises(InvalidRequest, match="tool-result"):
            await here.decide(request_id)
        assert await here.parts.lookup.approvals(ME) == []
        await here.stands(run_id, "waiting_approval")
        run = await here.parts.lookup.run(ME, run_id)
        assert [(each["requestId"], each["reason"]) for each in run["approvals"]] == [(request_id, "client")]
        await here.runtime.tool_result(request_id, "Paris")
        assert end_of(await here.events(run_id)) == ("finish", "stop")


async def test_a_question_takes_no_result_and_what_is_no_request_is_not_found() -> None:
    async with world(ScriptedModel(Call("AskUser", {"question": "Where?"})), agents=[AGENT]) as here:
        question = str((await here.until(await send(here), "question")).data)
        with pytest.raises(InvalidRequest, match="waits for a decision"):
            await here.runtime.tool_result(question, "here")
        with pytest.raises(NotFound):
            await here.runtime.tool_result("ask_unknown", "here")


async def test_a_result_is_limited_made_valid_and_masked() -> None:
    async with world(ScriptedModel(CALL, Say("So.")), agents=[AGENT]) as here:
        run_id = await send(here, tool_context={"apiKey": "tr0ub4dor-and-3"})
        request_id = await handed(here, run_id)
        with pytest.raises(InvalidRequest, match="at most"):
            await here.runtime.tool_result(request_id, "x" * (LONGEST_RESULT + 1))
        view = await here.runtime.tool_result(request_id, "a\x00b\ud800 tr0ub4dor-and-3 " + "x" * 100_000)
        assert view["answer"].startswith(f"a\ufffdb\ufffd {MASK} xxx")
        await here.events(run_id)
        (said,) = await results(here)
        assert len(said) < 25_000
        assert "recall(" in said


async def test_a_subagents_call_reaches_the_caller_and_its_result_the_subagent(sqlite: str) -> None:
    scout = Subagent("scout", "Looks.", "You look.", tools=("locate",))
    lead = Agent("lead", tools=["AskUser"], subagents=[scout])
    steps: dict[str, list[Step]] = {
        "Go": [Call("Task", {"description": "d", "prompt": "Find", "subagent_type": "scout"}), Say("Done.")],
        "Find": [CALL, Say("It is Paris.")],
    }

    def script(request: ModelRequest) -> Step:
        message = request.prompt.messages[0]
        assert isinstance(message, UserMessage)
        return steps[getattr(message.parts[0], "text", "")].pop(0)

    async with world(ScriptedModel(script=script), store=sqlite, agents=[lead]) as here:
        run_id = await send(here)
        request_id = await handed(here, run_id, "subagent_tool_call")
        await here.stands(run_id, "waiting_approval")
    model = ScriptedModel(script=script)
    async with world(model, store=sqlite, agents=[lead]) as here:
        await here.runtime.tool_result(request_id, "Paris")
        assert end_of(await here.events(run_id)) == ("finish", "stop")
        assert "It is Paris." in (await results(here))[0]
        assert "Paris" in str(model.requests[0].prompt.messages[-1])
