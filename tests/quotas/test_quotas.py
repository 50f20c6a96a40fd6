"""Quotas by themselves: whatever is taken, settled, given back or lost, no counter holds more than its quota."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.core.errors import QuotaExceeded
from talaria.core.messages import Text, UserMessage
from talaria.core.usage import Usage
from talaria.journal.spending import Spent, UsageRow
from talaria.ports.counters import Counters, Full, Take
from talaria.ports.model import ModelRequest, Prompt
from talaria.ports.profile import Price, Profile
from talaria.quotas.quotas import Hold, Quotas
from talaria.quotas.rules import Budget, Limit, Rules
from talaria.quotas.windows import Windows
from talaria.stores.memory.counters import MemoryCounters
from talaria.testing.clock import FakeClock

REQUESTS = Budget("requests", "minute", 3, "requestsPerMinute")
TOKENS = Budget("tokens", "day", 1_000, "tokensPerDay")
COST = Budget("cost", "day", 2.0, "costPerDay")
CALLS = Budget("calls", "hour", 2, "callsPerHour")
PRICE = Price(10, 100, cache_write=20)


def made(rules: dict[str, Any], counters: Counters | None = None, clock: FakeClock | None = None) -> Quotas:
    empty: dict[str, Any] = {"tenants": {}, "agents": {}, "users": {}, "tools": {}}
    profiles = {"known": [Profile(price=PRICE, max_output=50)], "free": [Profile()]}
    return Quotas(
        Rules(**empty | rules),
        counters or MemoryCounters(),
        Windows(clock or FakeClock()),
        profiles=lambda model: profiles.get(model, ()),
        answer_tokens=100,
    )


def request(text: str = "", **fields: Any) -> ModelRequest:
    return ModelRequest("known", Prompt(messages=[UserMessage((Text(text),))]), **fields)


async def refused(taking: Any) -> QuotaExceeded:
    with pytest.raises(QuotaExceeded) as caught:
        await taking
    return caught.value


async def test_what_was_admitted_counts_and_the_next_one_is_told_when_there_is_room() -> None:
    clock = FakeClock()
    clock.move(12.5)
    quota = made({"tenants": {"acme": (REQUESTS,)}}, clock=clock).of("acme", "a", "ann")
    for _ in range(3):
        await quota.admit()
    error = await refused(quota.admit())
    assert (error.quota, error.retry_after) == ("tenants.acme.requestsPerMinute", 48)
    assert error.current == {"quota": "tenants.acme.requestsPerMinute", "remaining": 0}
    assert error.message == (
        "the quota tenants.acme.requestsPerMinute (3 requests a minute) is used up; there is room again in 48 s"
    )
    clock.move(47)
    await refused(quota.admit())
    clock.move(0.5)
    await quota.admit()


async def test_all_quotas_that_apply_must_have_room_and_nothing_is_taken_where_one_has_none() -> None:
    one = Budget("requests", "day", 1, "requestsPerDay")
    quotas = made({"tenants": {"*": (REQUESTS,)}, "users": {"ann": (one,)}})
    await quotas.of("acme", "a", "ann").admit()
    for _ in range(5):
        assert (await refused(quotas.of("acme", "a", "ann").admit())).quota == "users.ann.requestsPerDay"
    for _ in range(2):
        await quotas.of("acme", "a", "bob").admit()
    assert (await refused(quotas.of("acme", "a", "bob").admit())).quota == "tenants.*.requestsPerMinute"
    await quotas.of("umbrella", "a", "ann").admit()  # another tenant, and another Ann


async def test_an_entry_of_ones_own_stands_in_for_the_star() -> None:
    quotas = made({"agents": {"*": (REQUESTS,), "free": ()}})
    for _ in range(10):
        await quotas.of("acme", "free", "ann").admit()
    for tenant in ("a", "b", "c"):
        await quotas.of(tenant, "other", "ann").admit()
    assert (await refused(quotas.of("d", "other", "ann").admit())).quota == "agents.*.requestsPerMinute"


async def test_names_that_look_like_other_names_have_counters_of_their_own() -> None:
    quotas = made({"users": {"*": (Budget("requests", "minute", 1, "requestsPerMinute"),)}})
    for tenant, user in (("a", "b"), ("a/b", "c"), ("a", "b/c"), ("a\nb", "c"), ("a", "b\nc")):
        await quotas.of(tenant, "a", user).admit()


async def test_a_call_takes_what_its_prompt_and_its_answer_may_have_and_keeps_what_it_used() -> None:
    quota = made({"tenants": {"*": (TOKENS,)}}).of("acme", "a", "ann")
    capped = quota.capped(request())
    assert capped.max_tokens == 50  # what the model can; 100 where that is not known
    assert quota.capped(request(max_tokens=700)).max_tokens == 700
    hold = await quota.reserve(request("x" * 400, max_tokens=700))
    error = await refused(quota.reserve(request(max_tokens=100)))
    assert error.message.startswith("the quota tenants.*.tokensPerDay (1,000 tokens a day) leaves ")
    await hold.settle_model(Usage(30, 20))
    second = await quota.reserve(request(max_tokens=900))
    await second.settle_model(Usage(10, 900))
    await refused(quota.reserve(request(max_tokens=40)))
    assert (await refused(quota.reserve(request(max_tokens=2_000)))).message.count("more than there ever is") == 1


async def test_cost_is_that_of_the_dearest_answer_and_a_model_without_a_price_is_refused() -> None:
    quota = made({"tenants": {"*": (COST,)}}).of("acme", "a", "ann")
    hold = await quota.reserve(request(max_tokens=19_000))
    assert (await refused(quota.reserve(request(max_tokens=1_500)))).quota == "tenants.*.costPerDay"
    await hold.settle_model(Usage(0, 19_000, cost=1.9))
    await refused(quota.reserve(request(max_tokens=1_500)))
    for model in ("free", "nobody's"):
        unknown = ModelRequest(model, Prompt(), max_tokens=1)
        assert "no price is known" in (await refused(quota.reserve(unknown))).message


async def test_a_tenant_whose_tokens_are_used_up_is_refused_at_the_door() -> None:
    clock = FakeClock()
    quotas = made({"tenants": {"*": (TOKENS,)}}, clock=clock)
    quota = quotas.of("acme", "a", "ann")
    await quota.admit()
    await (await quota.reserve(request(max_tokens=900))).settle_model(Usage(900, 99))
    assert (await quotas.of("acme", "b", "bob").admit()) is not None  # one token is left
    await quotas.count("acme", "ann", clock.now(), UsageRow("a", "known", models={"known": Spent(output=1)}))
    assert (await refused(quota.admit())).quota == "tenants.*.tokensPerDay"


async def test_tools_of_an_entry_share_its_counter_and_the_star_is_for_each() -> None:
    entries = {"export": {"export": (CALLS,)}, "read": {"group:files": (CALLS,)}, "write": {"group:files": (CALLS,)}}
    quota = made({"tools": entries, "any_tool": (CALLS,)}).of("acme", "a", "ann")
    for tool in ("export", "export", "read", "write", "x", "x", "y", "y"):
        await quota.take_call(tool)
    named = {tool: (await refused(quota.take_call(tool))).quota for tool in ("export", "write", "x", "y")}
    assert named == {
        "export": "tools.export.callsPerHour",
        "write": "tools.group:files.callsPerHour",
        "x": "tools.*.callsPerHour",
        "y": "tools.*.callsPerHour",
    }


async def test_counters_that_do_not_answer_refuse_everything() -> None:
    class Broken:
        async def take(self, takes: Sequence[Take]) -> Full | None:
            raise ConnectionError("gone")

        async def add(self, takes: Sequence[Take]) -> None:
            raise ConnectionError("gone")

    quota = made({"tenants": {"*": (REQUESTS, TOKENS, CALLS)}}, Broken()).of("acme", "a", "ann")
    for taking in (quota.admit(), quota.reserve(request(max_tokens=1)), quota.take_call("x")):
        assert "cannot be read" in (await refused(taking)).message


async def test_what_is_on_record_counts_in_the_windows_that_are_still_open() -> None:
    clock = FakeClock()
    quotas = made({"tenants": {"*": (REQUESTS, TOKENS)}, "any_tool": (CALLS,)}, clock=clock)
    row = UsageRow("a", "known", requests=3, tools={"x": 2}, models={"known": Spent(input=900, output=90)})
    await quotas.count("acme", "ann", clock.now() - 60_000, row)  # another minute, the same day, another hour
    quota = quotas.of("acme", "a", "ann")
    await quota.admit()
    await refused(quota.reserve(request(max_tokens=40)))
    await quota.take_call("x")
    await quotas.count("acme", "ann", clock.now(), UsageRow("a", "known", requests=2, tools={"x": 1}))
    await refused(quota.take_call("x"))
    assert (await refused(quota.admit())).quota == "tenants.*.requestsPerMinute"


async def test_counters_that_are_over_are_forgotten() -> None:
    clock, counters = FakeClock(), MemoryCounters()
    quotas = made({"users": {"*": (REQUESTS,)}}, counters, clock)
    for number in range(5_000):
        await quotas.of("acme", "a", f"user {number}").admit()
        clock.move(1)
    assert counters.count < 2_500


Step = tuple[str, int, int]
steps = st.lists(st.tuples(st.sampled_from(["take", "settle", "give", "lose"]), st.integers(0, 400), st.integers(0, 9)))


@given(steps)
async def test_no_order_of_taking_and_settling_holds_more_than_the_quota(history: list[Step]) -> None:
    """`lose`: whoever held it died; what they held stays taken until the process ends."""
    counters = MemoryCounters()
    quotas = made({"tenants": {"*": (TOKENS,)}}, counters)
    limit = quotas.rules.holding("acme", "a", "ann")[0]
    holds: list[tuple[Hold, int]] = []
    used, lost = 0, 0
    for what, amount, which in history:
        if what == "take":
            try:
                holds.append((await quotas.take([(limit, amount)]), amount))
            except QuotaExceeded:
                assert used + lost + sum(held for _, held in holds) + amount > TOKENS.most
        elif holds:
            hold, held = holds.pop(which % len(holds))
            if what == "settle":
                used += (spent := min(amount, held))
                await hold.settle(tokens=spent)
            elif what == "give":
                await hold.give_back()
            else:
                lost += held
        assert used + lost + sum(held for _, held in holds) <= TOKENS.most
        assert await holding(quotas, limit) == used + lost + sum(held for _, held in holds)


async def holding(quotas: Quotas, limit: Limit) -> float:
    """What a counter holds, found out the public way: by asking for more than there can be."""
    window, ends = quotas.windows.now(limit.budget.per)
    full = await quotas.counters.take([Take(limit.key, window, ends, limit.budget.most + 1, limit.budget.most)])
    assert full is not None
    return full.holds
