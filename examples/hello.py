"""Ask an agent one question. With a talaria.yaml beside you its models answer; without one, a script does."""

import asyncio
from pathlib import Path

from talaria import Agent, Runtime, tool
from talaria.testing.scripted_model import Call, Say, ScriptedModel


@tool(side_effects=False)
def population(city: str) -> int:
    """Say how many people live in a city."""
    return {"Oslo": 717_710}[city]


geographer = Agent("geographer", instructions="Answer in one sentence.", tools=[population])
script = ScriptedModel(Call("population", {"city": "Oslo"}), Say("717,710 people live in Oslo."))


def runtime() -> Runtime:
    if Path("talaria.yaml").exists():
        return Runtime(agents=[geographer])
    return Runtime({"store": {"url": "memory://"}}, agents=[geographer], model=script)


async def main() -> None:
    async with runtime() as here:
        result = await here.run(geographer, "How many people live in Oslo?", session="s-1")
        print(result.output)


if __name__ == "__main__":
    asyncio.run(main())
