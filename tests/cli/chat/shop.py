"""What the chat's tests talk to: a shop, as a plugin, and the configuration of its server."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from talaria.testing.steps import Step
from tests.cli.process import provider

PLUGIN = '''
from talaria import tool


@tool(approval=True)
async def refund(order_id: str, amount: int) -> str:
    """Refund part of an order.

    Args:
        order_id: The order.
        amount: How much.
    """
    return f"refunded {amount} of {order_id}"


@tool(side_effects=False)
async def look_up(order_id: str) -> str:
    """Look up an order.

    Args:
        order_id: The order.
    """
    return f"order {order_id}: 茶壶, 40 EUR"
'''
REFUND = Step(text="I refund it.", calls=(("refund", {"order_id": "42", "amount": 40}),))
COLOUR = Step(text="Let me ask.", calls=(("AskUser", {"question": "Which colour?", "choices": ["red", "blue"]}),))
DONE = Step(text="All **done**.")


@contextmanager
def shop(folder: Path, *steps: Step, **config: Any) -> Generator[dict[str, Any]]:
    """Write a shop's plugin and configuration to a folder, its model scripted."""
    (folder / "the_shop.py").write_text(PLUGIN)
    with provider(folder, steps) as models:
        whole = {"store": {"url": "sqlite:///./talaria.db"}, "plugins": ["the_shop"]} | models | config
        (folder / "talaria.yaml").write_text(json.dumps(whole))
        yield whole
