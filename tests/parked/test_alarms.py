"""Questions that nobody answers close at their time, however many they are and whatever happened in between."""

from pathlib import Path

from talaria import Agent, Principal, Runtime, tool
from talaria.journal.index import APPROVAL
from talaria.runtime.request import ChatRequest
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.polling import eventually

TIMEOUT = 300


@tool(approval=True)
async def refund(order_id: str) -> str:
    """Refund an order.

    Args:
        order_id: The order.
    """
    return f"refunded {order_id}"


def opened(url: str, clock: FakeClock, asked: int) -> Runtime:
    """A runtime whose model asks for a refund so many times, then says that nobody answered."""
    asks, ends = [Call("refund", {"order_id": "42"})] * asked, [Say("Nobody answered.")] * max(asked, 1)
    model = ScriptedModel(*asks, *ends)
    settings = {"store": {"url": url}, "approval": {"timeout": TIMEOUT}, "server": {"queue": 10_000}}
    return Runtime(settings, model=model, agents=[Agent("orders", tools=[refund])], clock=clock)


async def ask(runtime: Runtime, session: str) -> None:
    request = ChatRequest(query="Refund order 42.", agent="orders", session_id=session)
    await runtime.parts.admission.submit(request, Principal())


async def count_of_questions(runtime: Runtime) -> int:
    engine = runtime.parts.engine
    if engine.running or engine.lined_up:
        return -1
    return len(await runtime.parts.kit.store.index.find(APPROVAL, None, limit=10_000))


async def until_there_are(runtime: Runtime, questions: int) -> None:
    async def there_are() -> bool:
        return await count_of_questions(runtime) == questions

    await eventually(there_are, f"a rest with {questions} open questions", limit=30.0)


async def test_a_question_that_was_open_at_a_restart_expires_at_its_time(tmp_path: Path) -> None:
    url, clock = f"sqlite:///{tmp_path}/talaria.db", FakeClock()
    async with opened(url, clock, 1) as runtime:
        await ask(runtime, "s")
        await until_there_are(runtime, 1)
    async with opened(url, clock, 0) as runtime:
        await until_there_are(runtime, 1)
        clock.move(TIMEOUT + 1)
        await until_there_are(runtime, 0)


async def test_very_many_questions_that_are_due_at_once_all_expire() -> None:
    clock, count = FakeClock(), 1_500
    async with opened("memory://", clock, count) as runtime:
        for number in range(count):
            await ask(runtime, f"s-{number}")
        await until_there_are(runtime, count)
        clock.move(TIMEOUT + 1)
        await until_there_are(runtime, 0)
