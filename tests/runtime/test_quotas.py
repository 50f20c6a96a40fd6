"""Quotas of a runtime: at the door, before model calls, before tool calls, and over restarts."""

import asyncio
from typing import Any

import msgspec
import pytest

from talaria import AgentRequest, ChatEvent, Principal, Reply, Session
from talaria.core.errors import ConfigurationError, QuotaExceeded
from talaria.core.usage import Usage
from talaria.journal.entries import Audited, RunFinished
from talaria.journal.index import AUDIT, AuditRow
from talaria.runtime.runtime import Runtime
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Restarted, Say, ScriptedModel
from tests.runtime.own import own
from tests.runtime.tools import Shop
from tests.runtime.world import World, end_of, world

ANN, BOB = Principal("acme", "ann"), Principal("acme", "bob")


def says(**fields: Any) -> ScriptedModel:
    return ScriptedModel(script=lambda _: Say("Yes.", **fields))


def each(**budget: float) -> dict[str, Any]:
    return {"tenants": {"*": budget}}


async def is_refused(here: World, principal: Principal = ANN, **fields: Any) -> QuotaExceeded:
    with pytest.raises(QuotaExceeded) as caught:
        await here.submit(principal=principal, **fields)
    return caught.value


def used(events: list[ChatEvent]) -> tuple[int, int]:
    usage = events[-1].usage
    assert usage is not None
    return usage.input_tokens, usage.output_tokens


async def audited(here: World) -> list[AuditRow]:
    rows = await here.store.index.find(AUDIT)
    return [msgspec.json.decode(row.data, type=AuditRow) for row in rows]


# At the door


async def test_a_tenants_requests_are_counted_over_all_its_users(store: str) -> None:
    async with world(says(), store=store, quotas=each(requestsPerMinute=2)) as here:
        await here.submit(principal=ANN)
        await here.submit(principal=BOB)
        error = await is_refused(here, BOB)
        assert (error.quota, error.current["remaining"]) == ("tenants.*.requestsPerMinute", 0)
        await is_refused(here, BOB)
        await here.submit(principal=Principal("umbrella", "eve"))
        rows = await audited(here)
        assert [(row.action, row.outcome, row.subject) for row in rows] == [("quota", "refused", error.quota)]
        assert b'talaria_quota_refusals_total{level="tenants",quota="requestsPerMinute"} 2.0' in (
            here.parts.kit.metrics.render()
        )
        here.clock.move(60)
        await here.submit(principal=BOB)
        await here.idle()


async def test_a_request_that_was_not_admitted_or_is_a_repetition_takes_nothing(store: str) -> None:
    gate = asyncio.Event()
    async with world(says(gate=gate), store=store, quotas=each(requestsPerDay=3)) as here:
        await here.submit(principal=ANN, idempotency_key="once")
        for _ in range(3):
            again = await here.submit(principal=ANN, idempotency_key="once")
            assert not again.is_new
        for _ in range(3):
            with pytest.raises(Exception, match="busy"):
                await here.submit(principal=ANN, when_busy="reject")
        gate.set()
        await here.idle()
        for _ in range(2):
            await here.submit(principal=ANN)
        await is_refused(here)
        await here.idle()


# Model calls

SMALL = {"answerTokens": 1_000}


async def test_a_run_ends_with_what_it_has_when_there_is_no_room_for_its_next_model_call(
    store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = Shop()
    first = Say("Let me look.", calls=(Call("look"),), usage=Usage(4_000, 100))
    quotas = each(tokensPerDay=5_000) | SMALL
    async with world(model := ScriptedModel(first), store=store, tools=shop.tools, quotas=quotas) as here:
        run_id = await here.send()
        events = await here.events(run_id)
        assert end_of(events) == ("finish", "quotaExceeded")
        assert used(events) == (4_000, 100)
        assert shop.done == ["look shelf"]
        assert model.requests[0].max_tokens == 1_000
        said = [(each["role"], each["content"]) for each in await here.messages()]
        assert said == [("user", "Go"), ("assistant", "Let me look."), ("tool", "there is a shelf")]
        audit = next(entry for entry in await here.entries() if isinstance(entry, Audited))
        assert (audit.action, audit.outcome, audit.subject) == ("quota", "refused", "tenants.*.tokensPerDay")
        assert "there is room again in" in audit.detail
        assert "quota_refused" in (log := capsys.readouterr().out)
        assert "there is room again in" in log
        here.clock.move(86_400)
        assert end_of(await here.events(await here.send(max_tokens=10_000))) == ("finish", "quotaExceeded")


async def test_an_attempt_that_came_to_nothing_is_spent_and_another_one_needs_room_of_its_own(store: str) -> None:
    steps = [Restarted("A long begin", Say("Done.", usage=Usage(10, 5)))]
    quotas = each(tokensPerDay=4_200) | SMALL
    async with world(ScriptedModel(*steps), store=store, quotas=quotas) as here:
        events = await here.events(await here.send())
        assert end_of(events) == ("finish", "stop")
        assert events[-1].usage is not None
        assert events[-1].usage.estimated
    async with world(ScriptedModel(*steps), store="memory://", quotas=each(tokensPerDay=2_500) | SMALL) as here:
        events = await here.events(await here.send())
        assert end_of(events) == ("finish", "quotaExceeded")
        messages = await here.messages()
        assert (messages[-1]["content"], messages[-1]["incomplete"]) == ("A long begin", True)


async def test_an_agent_of_ones_own_ends_the_same_way(store: str) -> None:
    async def twice(request: AgentRequest, session: Session) -> Reply:
        first = await request.parts["models"].ask("One")
        return Reply(first.text + (await request.parts["models"].ask("Two")).text)

    model = ScriptedModel(Say("First. ", usage=Usage(4_000, 500)))
    quotas = each(tokensPerDay=5_000) | SMALL
    async with world(model, store=store, agents=[own(twice)], quotas=quotas) as here:
        events = await here.events(await here.send(agent="own"))
        assert end_of(events) == ("finish", "quotaExceeded")
        assert used(events) == (4_000, 500)


async def test_without_a_quota_on_tokens_no_answer_is_given_an_end(store: str) -> None:
    async with world(model := says(), store=store, quotas=each(requestsPerDay=10)) as here:
        await here.ask()
        assert model.requests[0].max_tokens is None


# Tool calls

LOOKS: dict[str, Any] = {"tools": {"look": {"callsPerHour": 1}}}


async def test_a_tool_call_without_room_is_told_to_the_model_and_on_record(store: str) -> None:
    shop = Shop()
    model = ScriptedModel(
        Say(calls=(Call("look"), Call("look"), Call("sell", {"what": "x"}))), Say("Done."), Call("look"), Say("Done.")
    )
    async with world(model, store=store, tools=shop.tools, quotas=LOOKS) as here:
        assert end_of(await here.ask()) == ("finish", "stop")
        assert sorted(shop.done) == ["look shelf", "sell x"]
        results = [each["content"] for each in await here.messages() if each["role"] == "tool"]
        assert results[1] == (
            "Not run: the quota tools.look.callsPerHour (1 tool calls an hour) is used up; there is room again in "
            "60 min. Go on without it, or answer with what you have."
        )
        audit = next(entry for entry in await here.entries() if isinstance(entry, Audited))
        assert (audit.subject, bool(audit.call_id)) == ("tools.look.callsPerHour", True)
        here.clock.move(3600)
        await here.ask()
        assert shop.done.count("look shelf") == 2


async def test_a_call_that_waits_for_a_person_holds_no_room_and_takes_it_when_it_runs(store: str) -> None:
    shop = Shop()
    model = ScriptedModel(script=lambda request: Call("refund") if len(request.prompt.messages) == 1 else Say("Done."))
    quotas: dict[str, Any] = {"tools": {"refund": {"callsPerDay": 1}}}
    async with world(model, store=store, tools=shop.tools, quotas=quotas) as here:
        runs = [await here.send(session_id=session) for session in ("a", "b", "c")]
        asked = [await here.question(run_id) for run_id in runs]  # all three: none holds room while it waits
        for run_id in runs:
            await here.stands(run_id, "waiting_approval")
        await here.decide(asked[0], approve=False)
        await here.events(runs[0])
        await here.decide(asked[1])
        await here.events(runs[1])
        await here.decide(asked[2])
        await here.events(runs[2])
        results = [(await here.messages(session))[2]["content"] for session in ("a", "b", "c")]
        assert [text.split(":")[0] for text in results] == ["Not run", results[1].split(":")[0], "Not run"]
        assert "declined" in results[0]
        assert "refund.callsPerDay" in results[2]
        assert len(shop.done) == 1


# Concurrency


async def test_fifty_runs_at_once_use_no_more_than_the_quota(store: str) -> None:
    """Requests, tokens and calls: each quota has room for some of the fifty, and no counter is ever over."""
    shop, spent = Shop(), list[int]()
    looked = Say(calls=(Call("look"),), usage=Usage(100, 900))
    model = ScriptedModel(
        script=lambda request: looked if len(request.prompt.messages) == 1 else Say("Ok.", usage=Usage(100, 900))
    )
    quotas: dict[str, Any] = {
        "tenants": {"*": {"requestsPerDay": 30, "tokensPerDay": 40_000}},
        "tools": {"look": {"callsPerDay": 7}},
        **SMALL,
    }
    async with world(model, store=store, tools=shop.tools, quotas=quotas) as here:
        sent = await asyncio.gather(
            *(here.submit(session_id=f"s-{number}") for number in range(50)), return_exceptions=True
        )
        admitted = [each for each in sent if not isinstance(each, BaseException)]
        assert len(admitted) == 30
        assert all(isinstance(each, QuotaExceeded) for each in sent if isinstance(each, BaseException))
        ends = [(await here.events(each.run_id))[-1] for each in admitted]
        await here.idle()
        for number in range(50):
            spent += [
                entry.usage.input_tokens + entry.usage.output_tokens
                for entry in await here.entries(f"s-{number}")
                if isinstance(entry, RunFinished)
            ]
        assert sum(spent) <= 40_000
        assert sum(spent) > 15_000  # not refused for nothing
        assert {each.reason for each in ends} <= {"stop", "quotaExceeded"}
        assert len(shop.done) == 7


# Restarts


async def test_a_restart_forgets_nothing_of_what_was_used(sqlite: str) -> None:
    shop, clock = Shop(), FakeClock()
    model = ScriptedModel(Call("look"), Say("Done.", usage=Usage(3_000, 500)))
    quotas: dict[str, Any] = LOOKS | each(requestsPerDay=3, tokensPerDay=9_000) | SMALL
    async with world(model, store=sqlite, clock=clock, tools=shop.tools, quotas=quotas) as here:
        assert end_of(await here.ask()) == ("finish", "stop")
    clock.move(90)
    model = ScriptedModel(Call("look"), Say("Done."))
    async with world(model, store=sqlite, clock=clock, tools=shop.tools, quotas=quotas) as here:
        assert end_of(await here.ask(max_tokens=10)) == ("finish", "stop")
        assert shop.done == ["look shelf"]
        assert end_of(await here.ask(max_tokens=4_500)) == ("finish", "quotaExceeded")
        await is_refused(here, Principal())
    async with world(says(), store=sqlite, clock=clock, tools=shop.tools, quotas=quotas) as here:
        await is_refused(here, Principal())
        clock.move(86_400)
        assert end_of(await here.ask()) == ("finish", "stop")


async def test_what_a_run_used_before_its_process_died_counts_although_the_run_goes_on(sqlite: str) -> None:
    shop, clock, gate = Shop(), FakeClock(), asyncio.Event()
    model = ScriptedModel(Say(calls=(Call("look"),), usage=Usage(3_000, 500)), Say("Hm.", chunk=1, gate=gate))
    quotas: dict[str, Any] = LOOKS | each(tokensPerDay=9_000) | SMALL
    async with world(model, store=sqlite, clock=clock, tools=shop.tools, quotas=quotas) as here:
        run_id = await here.send()
        await model.wait_until(lambda: len(model.requests) == 2)
        await here.stands(run_id, "running")
    clock.move(61)
    model = ScriptedModel(script=lambda request: Call("look") if len(request.prompt.messages) == 1 else Say("Done."))
    async with world(model, store=sqlite, clock=clock, tools=shop.tools, quotas=quotas) as here:
        assert end_of(await here.events(run_id)) == ("finish", "stop")
        assert end_of(await here.ask(session_id="other")) == ("finish", "stop")
        assert shop.done == ["look shelf"]
        assert end_of(await here.ask(session_id="third", max_tokens=4_500)) == ("finish", "quotaExceeded")


async def test_requests_that_had_not_begun_before_a_restart_count(sqlite: str) -> None:
    clock, gate = FakeClock(), asyncio.Event()
    quotas = each(requestsPerDay=3)
    async with world(says(gate=gate), store=sqlite, clock=clock, quotas=quotas) as here:
        run_id = await here.send()
        await here.stands(run_id, "running")
        await here.send()
        await here.send()
    async with world(says(), store=sqlite, clock=clock, quotas=quotas) as here:
        await is_refused(here, Principal())
        await here.idle()
        await is_refused(here, Principal())


# The configuration


@pytest.mark.parametrize(
    ("quotas", "message"),
    [
        (
            {"agents": {"asistant": {"callsPerDay": 1}}},
            "quotas.agents: no agent named 'asistant'; did you mean 'assistant'?",
        ),
        ({"tools": {"Look": {"callsPerDay": 1}}}, "quotas.tools: no tool named 'Look'; did you mean 'look'?"),
        ({"tools": {"group:x": {"callsPerDay": 1}}}, "quotas.tools: no tool named 'group:x'"),
        ({"tools": {"x*": {"callsPerDay": 1}}}, "quotas.tools: no tool named 'x*'"),
        ({"tenants": {"a": {"requestPerDay": 1}}}, "quotas.tenants.a.requestPerDay: there is no such key"),
        ({"tools": {"look": {"tokensPerDay": 1}}}, "quotas.tools.look.tokensPerDay: there is no such key"),
        ({"tenants": {"a": {"requestsPerDay": 0}}}, "quotas.tenants.a.requestsPerDay: input should be greater"),
    ],
)
def test_what_can_match_nothing_is_an_error_at_the_start(quotas: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Runtime({"sandbox": {"kind": "none"}, "quotas": quotas}, tools=Shop().tools)
    assert caught.value.message.startswith(message)


def test_names_of_tools_that_come_later_are_none() -> None:
    Runtime(
        {"store": {"url": "memory://"}, "quotas": {"tools": {"mcp__*": {"callsPerDay": 1}, "l*": {}}}},
        tools=Shop().tools,
    )
