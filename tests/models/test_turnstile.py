"""The turnstile: the pace a provider grants, and everybody in turn."""

import asyncio

import pytest

from talaria.core.errors import Overloaded
from talaria.models.turnstile import Turnstile
from talaria.testing.clock import FakeClock


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_no_minute_has_more_requests_than_there_may_be() -> None:
    clock = FakeClock()
    stile = Turnstile(3, None, clock)
    passed: list[tuple[int, int]] = []
    began = clock.now()

    async def one(at: int) -> None:
        await stile.enter("alice", 1, 1_000)
        passed.append((at, (clock.now() - began) // 1000))

    async with asyncio.TaskGroup() as group:
        for at in range(8):
            group.create_task(one(at))
        for _ in range(13):
            await settled()
            clock.move(10)
    assert passed == [(0, 0), (1, 0), (2, 0), (3, 60), (4, 60), (5, 60), (6, 120), (7, 120)]


async def test_users_take_turns_whoever_came_first() -> None:
    clock = FakeClock()
    stile = Turnstile(1, None, clock)
    await stile.enter("alice", 1, 1)
    order: list[str] = []

    async def one(user: str) -> None:
        await stile.enter(user, 1, 10_000)
        order.append(user)

    async with asyncio.TaskGroup() as group:
        for user in ("alice", "alice", "alice", "bob", "carol"):
            group.create_task(one(user))
            await settled()
        for _ in range(7):
            await settled()
            clock.move(60)
    assert order == ["alice", "bob", "carol", "alice", "alice"]


async def test_tokens_count_as_they_were_in_the_end() -> None:
    clock = FakeClock()
    stile = Turnstile(None, 100, clock)
    ticket = await stile.enter("alice", 90, 1)
    stile.settle(ticket, 20)
    await stile.enter("alice", 80, 1)
    with pytest.raises(Overloaded) as caught:
        await stile.enter("alice", 10, 0.01)
    assert caught.value.retry_after == 60
    clock.move(61)
    stile.settle(ticket, 100)  # too late to count
    await stile.enter("bob", 100, 1)
    await stile.close()


async def test_a_call_larger_than_the_limit_goes_when_it_is_alone() -> None:
    stile = Turnstile(None, 100, FakeClock())
    await stile.enter("alice", 5_000, 1)


async def test_who_leaves_the_line_holds_nobody_up() -> None:
    clock = FakeClock()
    stile = Turnstile(1, None, clock)
    await stile.enter("alice", 1, 1)
    gone = asyncio.create_task(stile.enter("alice", 1, 100))
    await settled()
    gone.cancel()
    waiting = asyncio.create_task(stile.enter("alice", 1, 1_000))
    await settled()
    clock.move(61)
    async with asyncio.timeout(5):
        await waiting
    await settled()
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "turnstile"]


async def test_who_has_gone_is_in_nobodys_way() -> None:
    clock = FakeClock()
    stile = Turnstile(None, 100, clock)
    await stile.enter("alice", 60, 1)
    large = asyncio.create_task(stile.enter("alice", 90, 1_000))
    await settled()
    small = asyncio.create_task(stile.enter("bob", 30, 1_000))
    await settled()
    assert not small.done()
    large.cancel()
    await settled()
    assert small.done()
    with pytest.raises(asyncio.CancelledError):
        await large
    await stile.close()
