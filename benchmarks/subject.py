"""What is measured: a runtime with one agent and one tool, as a program has it."""

from pathlib import Path
from typing import Any

from talaria import Agent, Runtime, tool
from talaria.ports.clock import Clock

MEMORY = "memory://"


@tool
async def look_up(order_id: str, amount: int, note: str = "") -> str:
    """Look up an order.

    Args:
        order_id: The order.
        amount: How much it is about.
        note: What to keep in mind.
    """
    return f"order {order_id}: {amount} EUR"


@tool(side_effects=False, name="look_up")
async def read_only(order_id: str, amount: int, note: str = "") -> str:
    """Look up an order.

    Args:
        order_id: The order.
        amount: How much it is about.
        note: What to keep in mind.
    """
    return f"order {order_id}: {amount} EUR"


INSTRUCTIONS = "You look after orders. Use the tools, and say what you found."
AGENT = Agent("orders", model="mock", instructions=INSTRUCTIONS, tools=[look_up])


def settings(url: str, store: str = MEMORY, **sections: Any) -> dict[str, Any]:
    """A configuration with one model; `sections` as in talaria.yaml."""
    return {"store": {"url": store}, "models": [{"prefix": "", "baseUrl": url}], **sections}


def sqlite(folder: str, name: str = "talaria") -> str:
    """The URL of a database in a folder."""
    return f"sqlite:///{Path(folder) / name}.db"


def runtime(url: str, store: str = MEMORY, clock: Clock | None = None, **sections: Any) -> Runtime:
    """A runtime to open; many runs at once have their places."""
    places = {"server": {"maxRuns": 2_000, "queue": 10_000}}
    return Runtime(settings(url, store, **(places | sections)), clock=clock)
