"""Tools with effects that tests can count and hold up."""

import asyncio
from typing import Any

from talaria import Tool, ToolContext, tool


class Shop:
    """Counts what its tools do; each may be told to wait."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.keys: list[str] = []
        self.began = asyncio.Event()
        self.go_on = asyncio.Event()

    @property
    def tools(self) -> tuple[Tool[..., Any], ...]:
        return (self.look, self.sell, self.slow_look, self.slow_sell, self.refund)

    @property
    def look(self) -> Tool[..., Any]:
        @tool(side_effects=False)
        async def look(what: str = "shelf") -> str:
            """Look at something."""
            self.done.append(f"look {what}")
            return f"there is a {what}"

        return look

    @property
    def sell(self) -> Tool[..., Any]:
        @tool
        async def sell(what: str) -> str:
            """Sell something."""
            self.done.append(f"sell {what}")
            return f"sold {what}"

        return sell

    @property
    def slow_look(self) -> Tool[..., Any]:
        @tool(side_effects=False)
        async def slow_look() -> str:
            """Look for long."""
            self.began.set()
            await self.go_on.wait()
            self.done.append("slow_look")
            return "looked"

        return slow_look

    @property
    def slow_sell(self) -> Tool[..., Any]:
        @tool
        async def slow_sell(ctx: ToolContext) -> str:
            """Sell something, slowly."""
            self.keys.append(ctx.idempotency_key)
            self.began.set()
            await self.go_on.wait()
            self.done.append("slow_sell")
            return "sold slowly"

        return slow_sell

    @property
    def refund(self) -> Tool[..., Any]:
        @tool(approval=True)
        async def refund(amount: int = 1) -> str:
            """Pay something back."""
            self.done.append(f"refund {amount}")
            return f"paid {amount}"

        return refund
