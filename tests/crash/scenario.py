"""The scenario: the tools that the server has, and what the model says. The model's words depend on no result."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from talaria import Tool, ToolContext, tool
from talaria.testing.steps import Step
from talaria.tools.consent import CONSENT
from tests.crash.effects import Effect, EffectLog
from tests.crash.keeper import KEEPER, OWN, TOLD
from tests.crash.points import Points

EDITED = {"order": "A-7", "amount": 12}
"""What an approver makes of the refund's arguments."""

NO_EFFECT = frozenset({CONSENT.name})
SAFE = frozenset({"stock"}) | NO_EFFECT
IDEMPOTENT = frozenset({"reserve"})
ASKS = frozenset({"ship"})
ON_THREAD = "label"

_WORDS = "Ein langer Satz, 一个很长的句子, 🪽 and a line\nbreak, a \u2028 separator, “quotes” and \\ backslashes. "
_LONG = "".join(f"{number}. {_WORDS}" for number in range(1, 27))

FIRST: tuple[Step, ...] = (
    Step(
        reasoning="Let me see what is in stock, then reserve it and charge the card.",
        text="I look at the stock.",
        calls=(
            ("stock", {"item": "sandals"}),
            ("stock", {"item": "wings"}),
            ("reserve", {"item": "sandals"}),
            ("charge", {"order": "A-7", "amount": 40}),
        ),
    ),
    Step(
        reasoning="One was broken, so a refund is due; the rest is sent.",
        calls=(
            ("stock", {"item": "caduceus"}),
            ("refund", {"order": "A-7", "amount": 10}),
            ("ship", {"order": "A-7"}),
            ("label", {"order": "A-7"}),
        ),
    ),
    Step(reasoning="All is done. " * 8, text=_LONG),
)
SECOND: tuple[Step, ...] = (
    Step(text="One more.", calls=(("charge", {"order": "B-1", "amount": 5}), ("stock", {"item": "wings"}))),
    Step(reasoning="Good.", text="It is charged. " * 20),
)
KEPT: tuple[Step, ...] = (
    Step(text="I look.", calls=(("stock", {"item": "wings"}), ("charge", {"order": "K-1", "amount": 3}))),
    Step(text="It is charged."),
)
TURNS: dict[str, tuple[Step, ...]] = {"first": FIRST, "second": SECOND, OWN: KEPT}
AGENTS = {OWN: KEEPER}
"""Who takes a turn, where it is not the first agent."""


def said(turn: str) -> tuple[str, str]:
    """The reasoning and the text of a turn, joined."""
    if turn == OWN:
        return "A customer. ", "".join(str(data) for kind, data in TOLD if kind == "token")
    steps = TURNS[turn]
    return "".join(step.reasoning for step in steps), "".join(step.text for step in steps)


Perform = Callable[..., Awaitable[str]]


class Workshop:
    """Tools whose effects are on record, with a point before and after each."""

    def __init__(self, effects: EffectLog, points: Points) -> None:
        self._effects = effects
        self._points = points

    def perform(self, name: str, ctx: ToolContext, **arguments: Any) -> str:
        """Do what the tool is there for."""
        self._points.reach(f"tool.before.{name}")
        self._effects.add(Effect(name, ctx.tool_call_id, ctx.idempotency_key, arguments))
        self._points.reach(f"tool.after.{name}")
        return f"{name} done: {arguments}"

    def tools(self) -> list[Tool[..., Any]]:
        """One tool of each kind."""
        return [self._stock(), self._reserve(), self._charge(), self._refund(), self._ship(), self._label()]

    def _stock(self) -> Tool[..., Any]:
        @tool(side_effects=False)
        async def stock(item: str, ctx: ToolContext) -> str:
            """Look up how many there are."""
            await asyncio.sleep(0)
            return self.perform("stock", ctx, item=item)

        return stock

    def _reserve(self) -> Tool[..., Any]:
        @tool(idempotent=True)
        async def reserve(item: str, ctx: ToolContext) -> str:
            """Reserve an item; the same key reserves it once."""
            return self.perform("reserve", ctx, item=item)

        return reserve

    def _charge(self) -> Tool[..., Any]:
        @tool
        async def charge(order: str, amount: int, ctx: ToolContext) -> str:
            """Charge the card."""
            done = self.perform("charge", ctx, order=order, amount=amount)
            await asyncio.sleep(0)
            return done

        return charge

    def _refund(self) -> Tool[..., Any]:
        @tool(approval=True)
        async def refund(order: str, amount: int, ctx: ToolContext) -> str:
            """Refund part of an order."""
            return self.perform("refund", ctx, order=order, amount=amount)

        return refund

    def _ship(self) -> Tool[..., Any]:
        @tool(unknown_outcome="ask")
        async def ship(order: str, ctx: ToolContext) -> str:
            """Send the parcel."""
            return self.perform("ship", ctx, order=order)

        return ship

    def _label(self) -> Tool[..., Any]:
        @tool
        def label(order: str, ctx: ToolContext) -> str:
            """Print a label."""
            return self.perform("label", ctx, order=order)

        return label
