"""Threads call into the event loop: every call is made, in order, on the loop."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager

import pytest

from talaria.threads.bell import Bell


@contextmanager
def without_eventfd() -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr("os.eventfd", raising=False)
        yield


@pytest.fixture(params=["eventfd", "none"])
async def bell(request: pytest.FixtureRequest) -> AsyncIterator[Bell]:
    if request.param == "eventfd":
        bell = Bell()
    else:
        with without_eventfd():
            bell = Bell()
    yield bell
    bell.close()


async def test_calls_of_many_threads_are_made_on_the_loop_each_threads_in_order(bell: Bell) -> None:
    made: list[tuple[int, int]] = []
    everything = asyncio.Event()

    def take(call: tuple[int, int]) -> None:
        asyncio.get_running_loop()
        made.append(call)
        if len(made) == 4_000:
            everything.set()

    def ring(thread: int) -> None:
        for number in range(1_000):
            bell.ring(take, (thread, number))

    threads = [threading.Thread(target=ring, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    async with asyncio.timeout(10):
        await everything.wait()
    for thread in range(4):
        assert [number for one, number in made if one == thread] == list(range(1_000))


async def test_a_call_that_fails_does_not_hold_up_those_behind_it(bell: Bell) -> None:
    told: list[str] = []
    made: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def fail(_: object) -> None:
        raise LookupError("broken")

    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(str(context["exception"])))
    bell.ring(fail, None)
    bell.ring(made.set_result, 7)
    async with asyncio.timeout(10):
        assert await made == 7
    assert told == ["broken"]


async def test_closing_twice_is_no_error(bell: Bell) -> None:
    bell.close()
    bell.close()


@pytest.mark.parametrize("has_eventfd", [True, False])
def test_ringing_once_the_loop_is_closed_does_nothing(*, has_eventfd: bool) -> None:
    async def make() -> Bell:
        return Bell()

    if has_eventfd:
        bell = asyncio.run(make())
    else:
        with without_eventfd():
            bell = asyncio.run(make())
    bell.ring(pytest.fail, "called")
    if has_eventfd:
        bell.close()


async def test_a_thread_that_rings_after_the_bell_was_closed_writes_into_nobody_elses_file() -> None:
    bell = Bell()
    bell.close()
    files = [os.eventfd(0, os.EFD_NONBLOCK) for _ in range(8)]  # one of them has the bell's old number
    try:
        heard: list[object] = []
        await asyncio.to_thread(bell.ring, heard.append, 1)
        for file in files:
            with pytest.raises(BlockingIOError):
                os.eventfd_read(file)
        assert heard == []
    finally:
        for file in files:
            os.close(file)
