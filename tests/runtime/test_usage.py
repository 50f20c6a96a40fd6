"""Usage: what was used, by whatever is asked for; it outlives sessions, and old days become small."""

from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from talaria import AgentRequest, Principal, Reply, Session
from talaria.core.errors import InvalidRequest, JournalError
from talaria.core.usage import Usage
from talaria.journal.index import USAGE
from talaria.journal.rebuild import rebuild_index
from talaria.ports.journal import Index, IndexRow
from talaria.runtime.usage_rows import DAYS
from talaria.runtime.usage_sums import UsageSums
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Restarted, Say, ScriptedModel
from tests.runtime.own import own
from tests.runtime.tools import Shop
from tests.runtime.world import World, end_of, world

ANN, BOB, EVE = Principal("acme", "ann"), Principal("acme", "bob"), Principal("umbrella", "eve")
READER = Principal("acme", "boss", ("usage:read",))
DAY = 86_400
MODELS = [
    {"prefix": "a-", "baseUrl": "http://127.0.0.1:1", "price": {"input": 1, "output": 2, "currency": "EUR"}},
    {"prefix": "", "baseUrl": "http://127.0.0.1:1"},
]


USED = Usage(100, 10)


def says(usage: Usage = USED) -> ScriptedModel:
    return ScriptedModel(script=lambda _: Say("Yes.", usage=usage))


async def turn(here: World, principal: Principal, session: str = "s", **fields: Any) -> None:
    submitted = await here.submit(principal=principal, session_id=session, **fields)
    async for _ in here.parts.lookup.follow(submitted.run_id, submitted.key):
        pass
    await here.idle()


async def usage(here: World, *by: str, principal: Principal = READER, **days: str) -> list[dict[str, Any]]:
    return (await here.parts.usage.usage(principal, by, days.get("first"), days.get("last")))["usage"]


async def short(here: World, *by: str, **options: Any) -> list[tuple[Any, ...]]:
    """Groups in short: their names, then requests, runs, model calls, tool calls and tokens."""
    counted = ("requests", "runs", "modelCalls", "toolCalls", "inputTokens", "outputTokens")
    return [(*each["group"].values(), *(each[name] for name in counted)) for each in await usage(here, *by, **options)]


async def test_everything_is_summed_up_by_whatever_is_asked_for(store: str) -> None:
    shop = Shop()
    looked = Say(calls=(Call("look"), Call("look"), Call("nothing")), usage=Usage(10, 1))
    steps = [looked, Say("Done.", usage=Usage(20, 2)), Say("Yes.", usage=Usage(100, 10)), Say("No.", usage=Usage(7, 7))]
    async with world(ScriptedModel(*steps), store=store, tools=shop.tools) as here:
        await turn(here, ANN, model_name="big", labels={"team": "red"})
        here.clock.move(DAY)
        await turn(here, BOB, model_name="small", labels={"team": "blue"})
        await turn(here, EVE, model_name="small")
        assert await short(here) == [(2, 2, 3, 2, 130, 13)]
        assert await short(here, "user") == [("ann", 1, 1, 2, 2, 30, 3), ("bob", 1, 1, 1, 0, 100, 10)]
        assert await short(here, "tenant", "agent") == [("acme", "assistant", 2, 2, 3, 2, 130, 13)]
        assert await short(here, "model") == [("big", 1, 1, 2, 2, 30, 3), ("small", 1, 1, 1, 0, 100, 10)]
        assert await short(here, "day") == [("2027-01-15", 1, 1, 2, 2, 30, 3), ("2027-01-16", 1, 1, 1, 0, 100, 10)]
        assert await short(here, "label:team") == [("blue", 1, 1, 1, 0, 100, 10), ("red", 1, 1, 2, 2, 30, 3)]
        assert await short(here, "label:x") == [(None, 2, 2, 3, 2, 130, 13)]
        assert await short(here, last="2027-01-15") == [(1, 1, 2, 2, 30, 3)]
        assert await short(here, first="2027-01-16") == [(1, 1, 1, 0, 100, 10)]
        assert await short(here, first="2027-01-17", last="2027-01-18") == []


async def test_who_may_not_see_the_tenants_usage_sees_their_own(store: str) -> None:
    async with world(says(), store=store) as here:
        for who in (ANN, ANN, BOB, EVE):
            await turn(here, who)
        assert await short(here, "user", principal=ANN) == [("ann", 2, 2, 2, 0, 200, 20)]
        assert await short(here, "user", principal=EVE) == [("eve", 1, 1, 1, 0, 100, 10)]
        assert await short(here, principal=Principal("acme", "nobody")) == []
        assert await short(here, "user", principal=Principal("umbrella", "x", ("usage:read",))) == [
            ("eve", 1, 1, 1, 0, 100, 10)
        ]
        everyone = Principal("acme", "anonymous", everyone=True)
        assert len(await short(here, "user", principal=everyone)) == 2


async def test_a_run_that_waited_for_a_person_counts_once_and_where_it_was_used(store: str) -> None:
    shop = Shop()
    model = ScriptedModel(Say(calls=(Call("refund"),), usage=Usage(10, 1)), Say("Paid.", usage=Usage(20, 2)))
    async with world(model, store=store, tools=shop.tools, approval={"timeout": 10 * DAY}) as here:
        run_id = await here.send()
        asked = await here.question(run_id)
        await here.stands(run_id, "waiting_approval")
        here.clock.move(DAY)
        await here.decide(asked)
        await here.events(run_id)
        me = Principal()
        assert await short(here, principal=me) == [(1, 1, 2, 1, 30, 3)]
        assert await short(here, "day", principal=me) == [
            ("2027-01-15", 1, 0, 1, 0, 10, 1),
            ("2027-01-16", 0, 1, 1, 1, 20, 2),
        ]


async def test_attempts_that_came_to_nothing_are_spent_and_shown_as_estimates(store: str) -> None:
    model = ScriptedModel(Restarted("A long beginning", Say("Done.", usage=Usage(10, 5))))
    async with world(model, store=store) as here:
        await here.ask()
        (total,) = await usage(here, principal=Principal())
        assert total["modelCalls"] == 1
        assert total["inputTokens"] > 10
        assert total["estimatedShare"] == 1.0


async def test_steps_of_agents_of_ones_own_are_their_model_calls(store: str) -> None:
    async def twice(request: AgentRequest, session: Session) -> Reply:
        first = await request.parts["models"].ask("One", model="a-1")
        return Reply(first.text + (await request.parts["models"].ask("Two", model="b-1")).text)

    async with world(says(), store=store, agents=[own(twice)]) as here:
        assert end_of(await here.ask(agent="own")) == ("finish", "stop")
        assert await short(here, "model", principal=Principal()) == [
            ("", 1, 1, 0, 0, 0, 0),
            ("a-1", 0, 0, 1, 0, 100, 10),
            ("b-1", 0, 0, 1, 0, 100, 10),
        ]


async def test_money_is_summed_up_by_currency(store: str) -> None:
    async with world(says(Usage(100, 10, cost=0.5)), store=store, models=MODELS) as here:
        for model in ("a-1", "a-2", "other"):
            await turn(here, ANN, model_name=model)
        (total,) = await usage(here)
        assert total["cost"] == {"EUR": 1.0, "unknown": 0.5}


async def test_days_are_those_of_the_servers_time_zone(store: str) -> None:
    clock = FakeClock(1_774_738_800_000, ZoneInfo("Europe/Berlin"))  # 2026-03-29 00:00, a day of 23 hours
    async with world(says(), store=store, clock=clock) as here:
        for hours in (0, 22.99, 0.02):
            clock.move(hours * 3600)
            await turn(here, ANN)
        assert [each[:2] for each in await short(here, "day")] == [("2026-03-29", 2), ("2026-03-30", 1)]


@pytest.mark.parametrize(
    ("by", "days", "field"),
    [
        (["users"], {}, "by"),
        (["label:"], {}, "by"),
        ([f"label:{number}" for number in range(17)], {}, "by"),
        ([], {"first": "yesterday"}, "from"),
        ([], {"first": "2027-02-30"}, "from"),
        ([], {"last": "20270101"}, "to"),
        ([], {"first": "2027-01-02", "last": "2027-01-01"}, "from"),
        ([], {"first": "2000-01-01", "last": "2999-12-31"}, "from"),
    ],
)
async def test_a_wrong_question_is_refused_with_its_field(by: list[str], days: dict[str, str], field: str) -> None:
    async with world(says()) as here:
        with pytest.raises(InvalidRequest) as caught:
            await here.parts.usage.usage(READER, by, days.get("first"), days.get("last"))
        assert [each["field"] for each in caught.value.errors] == [field]


# Old days


async def count(here: World, kind: str) -> int:
    return len(await here.store.index.find(kind, limit=1_000))


async def fill(here: World) -> None:
    """Three days; the third is yesterday, as it is on the fourth."""
    for _ in range(3):
        for who in (ANN, ANN, BOB):
            here.clock.pass_unnoticed(61)
            await turn(here, who, labels={"team": who.user})
        here.clock.pass_unnoticed(DAY - 3 * 61)
    here.clock.pass_unnoticed(600)


async def everything(here: World) -> list[Any]:
    return [await usage(here, *by) for by in ((), ("user", "day"), ("model",), ("label:team",))]


async def test_days_that_are_over_become_a_row_for_what_was_used_alike_and_say_the_same(store: str) -> None:
    async with world(says(Usage(100, 10, cost=0.1)), store=store, models=MODELS, default_model="a-1") as here:
        await fill(here)
        before = await everything(here)
        assert (await count(here, USAGE), await count(here, DAYS)) == (9, 0)
        for _ in range(2):
            await here.parts.usage_sums.sweep()
            assert (await count(here, USAGE), await count(here, DAYS)) == (3, 4)
            assert await everything(here) == before


class Dying:
    """An index whose process dies at one of its writes: before it, or right after it."""

    def __init__(self, index: Index, writes: int, *, after: bool) -> None:
        self._index = index
        self._left = writes
        self._after = after
        self.get, self.find, self.due = index.get, index.find, index.due
        self.next_due, self.replace = index.next_due, index.replace

    async def put(self, rows: Sequence[IndexRow]) -> None:
        self._left -= 1
        if self._left < 0 and not self._after:
            raise JournalError("dead")
        await self._index.put(rows)
        if self._left < 0:
            raise JournalError("dead")


@pytest.mark.parametrize("writes", range(4))
@pytest.mark.parametrize("after", [False, True])
async def test_a_crash_while_days_are_summed_up_loses_nothing_and_counts_nothing_twice(
    monkeypatch: pytest.MonkeyPatch, writes: int, *, after: bool
) -> None:
    async with world(says(), default_model="m") as here:
        await fill(here)
        before = await everything(here)
        dying = UsageSums(here.parts.kit, lambda _: "")
        monkeypatch.setattr(dying, "_index", Dying(here.store.index, writes, after=after))
        with pytest.raises(JournalError):
            await dying.sweep()
        assert await everything(here) == before
        await here.parts.usage_sums.sweep()
        assert (await count(here, USAGE), await count(here, DAYS)) == (3, 4)
        assert await everything(here) == before


async def test_usage_outlives_its_sessions_and_an_index_that_is_made_again(store: str) -> None:
    async with world(says(), store=store, default_model="m", sessions={"retention": DAY}) as here:
        await fill(here)
        before = await everything(here)
        await here.parts.usage_sums.sweep()
        await rebuild_index(here.store.journal, here.store.index, here.store.blobs)  # brings rows of summed days back
        assert await everything(here) == before
        while await here.store.journal.sessions():
            await here.parts.retention.sweep()
        assert await everything(here) == before
        await here.parts.usage_sums.sweep()
        assert await everything(here) == before
        assert await count(here, USAGE) == 3
