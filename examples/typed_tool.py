"""A tool whose types say what may be asked: what the model writes is brought into them, or refused with words."""

import asyncio
import json
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated

from pydantic import Field

from talaria import Agent, Runtime, tool
from talaria.testing.scripted_model import Call, Say, ScriptedModel


class Carrier(Enum):
    POST = "post"
    EXPRESS = "express"


@dataclass
class Quote:
    total: Decimal
    arrives: date


@tool(group="shipping", side_effects=False, aliases={"carrier": {"fast": "express"}})
def quote(weight: Annotated[Decimal, Field(gt=0, le=30)], on: date, carrier: Carrier = Carrier.POST) -> Quote:
    """Say what it costs to send a parcel, and when it arrives.

    Args:
        weight: In kilograms, up to 30.
        on: The day on which it is handed in.
        carrier: Who carries it.
    """
    days, price = (1, Decimal("4.50")) if carrier is Carrier.EXPRESS else (3, Decimal("1.90"))
    return Quote(total=price * weight, arrives=date.fromordinal(on.toordinal() + days))


clerk = Agent("clerk", instructions="You quote parcels. Be brief.", tools=[quote])
script = ScriptedModel(
    Call("quote", {"weight": 40, "on": "2026-03-02"}),  # too heavy: it is told so, and tries again
    Call("quote", {"weight": "2.5", "on": "2 Mar 2026", "carrier": "fast"}),  # clear enough: it runs
    Say("11.25, and it arrives on 3 March."),
)


def runtime() -> Runtime:
    if Path("talaria.yaml").exists():
        return Runtime(agents=[clerk])
    return Runtime({"store": {"url": "memory://"}}, agents=[clerk], model=script)


async def main() -> None:
    print(json.dumps(quote.parameters["properties"]["carrier"]))
    async with runtime() as here:
        async for event in here.stream(clerk, "Express, 2.5 kg, handed in on 2 March 2026: what does it cost?"):
            for told in event.tool_results or ():
                print("error" if told.is_error else "result", told.result)
            if event.type == "token":
                print(event.data, end="")
    print()


if __name__ == "__main__":
    asyncio.run(main())
