"""Ticket triage: tickets are sorted by the agent alone, but whatever goes out to a customer waits for your yes."""

import asyncio
import json
from enum import Enum
from pathlib import Path

from pydantic import BaseModel

from talaria import Agent, Runtime, tool
from talaria.testing.scripted_model import Call, Say, ScriptedModel


class Team(Enum):
    BILLING = "billing"
    SHIPPING = "shipping"


class Priority(Enum):
    LOW = "low"
    HIGH = "high"


class Triage(BaseModel):
    sorted: int
    answered: int


tickets = {"T-1": "I was charged twice for order A-1001!", "T-2": "When does my parcel arrive?"}
desk: dict[str, str] = {}
outbox: dict[str, str] = {}


@tool(side_effects=False)
def open_tickets() -> dict[str, str]:
    """List the open tickets: what each customer wrote, by the ticket's number."""
    return tickets


@tool(idempotent=True)
def assign(ticket: str, team: Team, priority: Priority = Priority.LOW) -> str:
    """Give a ticket to a team.

    Args:
        ticket: The ticket's number, such as T-1.
        team: Who takes care of it.
        priority: High where money or a deadline is at stake.
    """
    desk[ticket] = f"{team.value}, {priority.value}"
    return f"{ticket} is with {team.value}"


@tool(approval=True)
def reply(ticket: str, text: str) -> str:
    """Answer a customer by mail.

    Args:
        ticket: The ticket's number, such as T-1.
        text: The whole mail.
    """
    outbox[ticket] = text
    return "sent"


triage = Agent(
    "triage",
    instructions="Give every open ticket to a team. Answer those that are urgent. Then say what you did, as numbers.",
    tools=[open_tickets, assign, reply],
    output_type=Triage,
)
script = ScriptedModel(
    Call("open_tickets"),
    Say(
        calls=(
            Call("assign", {"ticket": "T-1", "team": "billing", "priority": "high"}),
            Call("assign", {"ticket": "T-2", "team": "shipping"}),
            Call("reply", {"ticket": "T-1", "text": "Sorry! We pay the second charge back today."}),
        )
    ),
    Say('{"sorted": 2, "answered": 1}'),
)


def runtime() -> Runtime:
    if Path("talaria.yaml").exists():
        return Runtime(agents=[triage])
    return Runtime({"store": {"url": "memory://"}}, agents=[triage], model=script)


async def main() -> None:
    async with runtime() as here:
        async for event in here.stream(triage, "Please sort the open tickets."):
            if event.type == "approval_request":
                (call,) = event.tool_calls
                print(f"{call.name} {json.loads(call.arguments)}")
                if (await asyncio.to_thread(input, "Send it? [y/N] ")).strip().lower() == "y":
                    await here.approve(event.data)
                else:
                    await here.decline(event.data, comment="not like this")
            elif event.type in ("finish", "error"):
                print("\n", event.reason, event.data)
    print("desk", desk)
    print("outbox", outbox)


if __name__ == "__main__":
    asyncio.run(main())
