"""A tool whose calls keep failing is left alone for a while."""

import asyncio
from typing import Any

import pytest

from talaria import StopRun, Tool, tool
from talaria.core.errors import InvalidRequest
from talaria.journal.entries import Audited
from talaria.ports.model import ModelRequest
from talaria.runtime.scrape import scrape
from talaria.telemetry.metrics import Metrics
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from talaria.tools.breaker import Breakers
from talaria.tools.errors import ToolInvalid
from tests.runtime.world import World, soon, world

BREAKER = {"threshold": 3, "cooldown": 30}


class Service:
    """What a tool calls: it works, or raises this."""

    def __init__(self) -> None:
        self.error: BaseException | None = ConnectionError("no route to host")
        self.asked = 0
        self.gate: asyncio.Event | None = None

    def tool(self, **options: Any) -> Tool[..., Any]:
        @tool(side_effects=False, **options)
        async def look(x: int = 0) -> str:
            """Look."""
            self.asked += 1
            if self.gate is not None:
                await self.gate.wait()
            if self.error is not None:
                raise self.error
            return "seen"

        return look


def one_call(request: ModelRequest) -> Call | Say:
    """One call a turn."""
    last = request.prompt.messages[-1]
    return Call("look") if type(last).__name__ == "UserMessage" else Say("Done.")


async def results(here: World, times: int = 1, session: str = "s-1") -> list[str]:
    texts: list[str] = []
    for _ in range(times):
        for event in await here.ask(session_id=session):
            texts += [str(each.result) for each in event.tool_results or ()]
    return texts


def opened(service: Service, clock: FakeClock | None = None, **options: Any) -> Any:
    model = ScriptedModel(script=one_call)
    return world(model, tools=[service.tool(**options)], clock=clock, breaker=BREAKER)


async def test_after_failures_in_a_row_calls_are_refused_and_the_model_is_told_when_to_try_again() -> None:
    service = Service()
    async with opened(service) as here:
        first = await results(here, 3)
        assert all("no route" in text for text in first)
        refused = await results(here, 2, "another")
        assert [text.startswith("Not run: 'look' kept failing") for text in refused] == [True, True]
        assert "Try again in 30 s" in refused[0]
        assert service.asked == 3
        (entry,) = [each for each in await here.entries() if isinstance(each, Audited)]
        assert (entry.action, entry.outcome, entry.subject) == ("breaker", "open", "look")
        assert entry.detail == "3 calls in a row failed"
        metrics = (await scrape(here.parts, 0)).decode()
        assert 'talaria_breaker_open{tool="look"} 1.0' in metrics
        assert 'talaria_breaker_opened_total{tool="look"} 1.0' in metrics
        assert 'talaria_breaker_refused_total{tool="look"} 2.0' in metrics


async def test_after_the_cooldown_a_success_closes_it_and_a_failure_opens_it_again() -> None:
    service, clock = Service(), FakeClock()
    async with opened(service, clock) as here:
        await results(here, 3)
        clock.move(31)
        assert "no route" in (await results(here))[0]
        assert "Not run" in (await results(here))[0]
        clock.move(31)
        service.error = None
        assert await results(here, 2) == ["seen", "seen"]
        assert 'talaria_breaker_open{tool="look"} 0.0' in (await scrape(here.parts, 0)).decode()
        assert 'talaria_breaker_opened_total{tool="look"} 1.0' in (await scrape(here.parts, 0)).decode()


async def test_half_open_one_call_at_a_time_is_let_through() -> None:
    service, clock = Service(), FakeClock()
    async with opened(service, clock) as here:
        await results(here, 3)
        clock.move(31)
        service.gate, service.error = asyncio.Event(), None
        probe = asyncio.create_task(results(here, 1, "probe"))
        await soon(lambda: service.asked == 4, "the probe being under way")
        assert "Not run" in (await results(here, 1, "other"))[0]
        service.gate.set()
        assert await probe == ["seen"]
        assert service.asked == 4


async def test_a_success_between_failures_starts_the_count_anew() -> None:
    service = Service()
    async with opened(service) as here:
        for _ in range(3):
            service.error = OSError("down")
            await results(here, 2)
            service.error = None
            assert await results(here) == ["seen"]


@pytest.mark.parametrize("error", [StopRun("enough"), InvalidRequest("no such order")])
async def test_what_says_nothing_about_the_tool_does_not_count(error: BaseException) -> None:
    service = Service()
    service.error = error
    async with opened(service) as here:
        await results(here, 5)
        assert service.asked == 5


async def test_invalid_arguments_do_not_count() -> None:
    service = Service()
    bad = [step for _ in range(5) for step in (Call("look", {"x": "many"}), Say("Done."))]
    async with world(ScriptedModel(*bad, Call("look"), Say(".")), tools=[service.tool()], breaker=BREAKER) as here:
        await results(here, 6)
        assert service.asked == 1


async def test_timeouts_count() -> None:
    service = Service()
    service.gate = asyncio.Event()
    async with opened(service, timeout=0.01) as here:
        texts = await results(here, 4)
        assert [text.startswith("Timed out") for text in texts] == [True, True, True, False]


@pytest.mark.parametrize(("config", "options"), [({"threshold": None}, {}), (BREAKER, {"breaker": False})])
async def test_it_can_be_turned_off(config: dict[str, Any], options: dict[str, Any]) -> None:
    service, model = Service(), ScriptedModel(script=one_call)
    async with world(model, tools=[service.tool(**options)], breaker=config) as here:
        await results(here, 10)
        assert service.asked == 10


def test_calls_that_began_before_it_opened_neither_close_it_nor_free_the_probe() -> None:
    now = [0]
    breakers = Breakers(1, 10, lambda: now[0], Metrics())
    assert breakers.enter("a") == 0
    assert breakers.leave("a", False, is_probe=False)
    assert breakers.enter("a") == 10
    now[0] = 10_000
    assert breakers.enter("a") == 0
    assert breakers.is_open("a")
    assert not breakers.leave("a", True, is_probe=False)
    assert breakers.enter("a") > 0
    assert not breakers.leave("a", None, is_probe=True)
    assert breakers.enter("a") == 0
    breakers.leave("a", True, is_probe=True)
    assert not breakers.is_open("a")


def test_a_clock_that_steps_back_holds_nobody_up() -> None:
    now = [1_000_000]
    breakers = Breakers(1, 10, lambda: now[0], Metrics())
    breakers.leave("a", False, is_probe=False)
    now[0] = 0
    assert breakers.enter("a") == 0


async def test_tools_of_one_outside_server_share_its_breaker() -> None:
    called: list[str] = []

    @tool(breaker="billing")
    async def charge() -> str:
        """Charge a card."""
        called.append("charge")
        raise ConnectionError("billing is down")

    @tool(breaker="billing")
    async def invoice() -> str:
        """Write an invoice."""
        called.append("invoice")
        return "written"

    @tool
    async def billing() -> str:
        """Open the page on billing."""
        return "a page"

    model = ScriptedModel(*[Call("charge")] * 2, Call("invoice"), Call("billing"), Say("Done."))
    async with world(model, tools=[charge, invoice, billing], breaker={"threshold": 2, "cooldown": 30}) as here:
        await here.ask()
        texts = [each["content"] for each in await here.messages() if each["role"] == "tool"]
    assert called == ["charge", "charge"]
    assert texts[2].startswith("Not run: 'server:billing' kept failing")
    assert texts[3] == "a page"


def test_a_server_has_a_name() -> None:
    with pytest.raises(ToolInvalid, match="not ''"):
        opened(Service(), breaker="")
