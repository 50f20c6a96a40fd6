"""A served runtime in memory, and what its tests have in common."""

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, cast

from talaria import Agent, Runtime, Tool, tool
from talaria.ports.clock import Clock
from talaria.ports.model import Model
from talaria.server.app import Application, make_app
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import ScriptedModel
from tests.polling import eventually
from tests.server.client import Client
from tests.server.sse import Event

_EPHEMERAL = re.compile(r"\b(run|ses|ask|err)_[0-9a-f]{26}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


class Served(NamedTuple):
    """A client, the application that it speaks to, the runtime behind it, and the model behind that."""

    client: Client
    app: Application
    runtime: Runtime
    model: ScriptedModel


@asynccontextmanager
async def serving(
    model: Model | None,
    *,
    tools: Sequence[Tool[..., Any]] = (),
    agents: Sequence[Agent] = (),
    clock: Clock | None = None,
    **config: Any,
) -> AsyncGenerator[Served]:
    """Open a runtime with a scripted model and serve it; `config` has the sections of talaria.yaml.

    Without one that says so, there are no sandboxes.
    """
    settings = {"store": {"url": "memory://"}, "sandbox": {"kind": "none"}} | config
    async with Runtime(settings, model=model, tools=tools, agents=agents, clock=clock or FakeClock()) as runtime:
        app = make_app(runtime)
        yield Served(Client(app), app, runtime, model if isinstance(model, ScriptedModel) else ScriptedModel())


async def parked(served: Served, run_id: str) -> None:
    """Wait until the run waits for a person and holds nothing any more."""
    await status(served, run_id, "waiting_approval")


async def status(served: Served, run_id: str, wanted: str) -> None:
    """Wait until the run stands so."""

    async def stands() -> bool:
        return (await served.client.get(f"/ai-api/runs/{run_id}")).json["status"] == wanted

    await eventually(stands, f"the run being {wanted}")


def plain(value: Any) -> Any:
    """A JSON value with ids and times replaced by words, and durations left out, for snapshots."""
    if isinstance(value, str):
        return _TIME.sub("TIME", _EPHEMERAL.sub(lambda match: match[1].upper(), value))
    if isinstance(value, list):
        return [plain(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in cast("dict[str, Any]", value).items() if key != "durationMs"}
    return value


def shown(events: list[Event]) -> list[Any]:
    """The data of events, for snapshots."""
    return [plain(event.data) for event in events]


class Shop:
    """Tools with effects that can be counted."""

    def __init__(self) -> None:
        self.refunds: list[tuple[str, int]] = []

    def tools(self) -> list[Tool[..., Any]]:
        @tool(approval=True)
        async def refund(order_id: str, amount: int) -> str:
            """Refund part of an order.

            Args:
                order_id: The order.
                amount: How much.
            """
            self.refunds.append((order_id, amount))
            return f"refunded {amount} of {order_id}"

        @tool(side_effects=False)
        async def look_up(order_id: str) -> str:
            """Look up an order.

            Args:
                order_id: The order.
            """
            return f"order {order_id}: 40 EUR"

        return [refund, look_up]
