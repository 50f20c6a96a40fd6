"""Thinking over a route: what its model is told, and that what it cannot do is told once a run."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from talaria import AgentRequest, AgentRuntime, Reply, Runtime, Session, agent, tool
from talaria.core.messages import Image, UserMessage
from talaria.journal.entries import ModelFinished, StepFinished
from talaria.testing.clock import FakeClock
from talaria.testing.model_server import ModelServer
from talaria.testing.scripted_model import ScriptedModel
from talaria.testing.steps import Step
from tests.runtime.world import World, end_of

LOOK, SAY = Step("I look.", calls=(("look", {}),)), Step("Done.")


@tool
async def look() -> str:
    """Look around."""
    return "seen"


@asynccontextmanager
async def served(server: ModelServer, model: str, **route: Any) -> AsyncGenerator[World]:
    """A world whose model is asked over a route."""
    routes = [{"prefix": "", "baseUrl": server.base_url, **route}]
    settings = {"store": {"url": "memory://"}, "models": routes, "defaultModel": model}
    clock = FakeClock()
    async with Runtime(settings, clock=clock, tools=[look]) as runtime:
        yield World(runtime, ScriptedModel(), clock)


async def notices(here: World, **fields: Any) -> list[tuple[str | None, str]]:
    events = await here.ask(**fields)
    assert end_of(events) == ("finish", "stop")
    return [(event.reason, str(event.data)) for event in events if event.type == "notice"]


async def test_thinking_that_a_model_never_does_is_told_once_a_run() -> None:
    async with ModelServer([LOOK, SAY, LOOK, SAY]) as server, served(server, "gpt-4o-mini") as here:
        told = [("downgraded", "gpt-4o-mini does not think before it answers; thinking is left out.")]
        assert await notices(here, thinking="enabled") == told
        assert await notices(here, thinking="enabled") == told
        recorded = [entry.downgraded for entry in await here.entries() if isinstance(entry, ModelFinished)]
        assert recorded == [(told[0][1],), (), (told[0][1],), ()]
    assert len(server.requests) == 4
    assert not any("reasoning_effort" in request.body for request in server.requests)


@pytest.mark.parametrize(
    ("thinking", "route", "member"),
    [
        ("enabled", {}, {"reasoning_effort": "medium"}),
        ("enabled", {"thinking": {"effort": "high"}}, {"reasoning_effort": "high"}),
        ("disabled", {}, {"reasoning_effort": "none"}),
        (None, {}, {}),
        ("enabled", {"dialect": "deepseek"}, {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
        ("disabled", {"dialect": "deepseek"}, {"thinking": {"type": "disabled"}}),
    ],
)
async def test_a_model_that_nobody_knows_is_told_in_its_routes_dialect(
    thinking: str | None, route: dict[str, Any], member: dict[str, Any]
) -> None:
    async with ModelServer([SAY]) as server, served(server, "some-model", **route) as here:
        assert await notices(here, thinking=thinking) == []
    body = server.requests[0].body
    assert {name: body[name] for name in ("thinking", "reasoning_effort") if name in body} == member


async def test_reasoning_goes_back_after_calls_in_deepseeks_dialect_even_when_there_was_none() -> None:
    steps = [Step(reasoning="I wonder.", calls=(("look", {}),)), LOOK, SAY]
    async with ModelServer(steps) as server, served(server, "some-model", dialect="deepseek") as here:
        assert await notices(here) == []
    said = [message for message in server.requests[-1].body["messages"] if message["role"] == "assistant"]
    assert [message["reasoning_content"] for message in said] == ["I wonder.", ""]
    assert [message["content"] for message in said] == ["", "I look."]


@agent
class Looker:
    """An agent of one's own that shows its model a picture twice."""

    name = "looker"
    needs = frozenset({"models"})

    async def initialize(self, runtime: AgentRuntime) -> None:
        pass

    async def invoke(self, request: AgentRequest, session: Session) -> Reply:
        seen = [UserMessage((Image("image/png", "AA"),))]
        return Reply("".join([(await request.models.ask(seen)).text for _ in range(2)]))

    async def destroy(self) -> None:
        pass


async def test_what_the_model_of_an_agent_of_ones_own_does_not_take_is_told_once_and_recorded() -> None:
    blind = {"capabilities": {"vision": False}}
    async with ModelServer([SAY, SAY]) as server, served(server, "gpt-x", **blind) as here:
        here.parts.kit.catalog.add_agent(Looker)
        told = ("downgraded", "gpt-x sees no images; it is told that there is one.")
        assert await notices(here, agent="looker") == [told]
        recorded = [entry.downgraded for entry in await here.entries() if isinstance(entry, StepFinished)]
        assert recorded == [(told[1],), ()]
