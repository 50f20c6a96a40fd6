"""What the server has to choose from, as it said last: for lists and for completion."""

from dataclasses import dataclass, field
from typing import Any

from talaria.cli.chat.client import ChatError, Client

SESSIONS = "30"
"""How many sessions are listed."""

Rows = list[dict[str, Any]]


@dataclass(slots=True)
class Offers:
    """Models, tools and sessions."""

    models: Rows = field(default_factory=Rows)
    tools: Rows = field(default_factory=Rows)
    sessions: Rows = field(default_factory=Rows)

    async def refresh(self, client: Client) -> None:
        """Ask the server again.

        Raises:
            ChatError: it refused, or cannot be reached.
        """
        self.sessions = (await client.get("/sessions", limit=SESSIONS))["sessions"]
        self.models = await _list(client, "models")
        self.tools = await _list(client, "tools")


async def _list(client: Client, name: str) -> Rows:
    try:
        return (await client.get(f"/{name}"))[name]
    except ChatError as error:
        if error.status in (403, 404):  # an older server, or one that keeps this to itself
            return []
        raise
