"""The loop rests for a moment while a busy store has not answered: whatever happens then, it goes on."""

import asyncio
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from talaria.stores.sqlite.worker import PATIENCE, Job, Worker

SECONDS = 1.0


def perform(jobs: list[Job[None, Any]]) -> None:
    for job in jobs:
        job.result = job.work(None)


def ignore(_: int, __: object) -> None: ...


@pytest.fixture
def signals() -> Iterator[None]:
    """Signals to the main thread, as fast as they go."""
    before = signal.signal(signal.SIGUSR2, ignore)
    over = threading.Event()

    def send() -> None:
        while not over.wait(0.0001):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR2)

    sender = threading.Thread(target=send)
    sender.start()
    yield
    over.set()
    sender.join()
    signal.signal(signal.SIGUSR2, before)


@pytest.mark.timeout(10)
@pytest.mark.usefixtures("signals")
async def test_a_signal_that_comes_while_the_loop_rests_does_not_stop_it_for_good() -> None:
    worker: Worker[None] = Worker("slow", perform, lambda: None)
    over = threading.Event()
    answer = worker.submit(lambda _: over.wait(SECONDS))
    await asyncio.sleep(20 * PATIENCE)  # the loop rests again and again
    over.set()
    assert await answer
    await worker.close()
