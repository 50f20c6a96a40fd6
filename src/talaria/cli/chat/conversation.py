"""The conversation: which session, and how its turns are to be run."""

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Conversation:
    """What the next request says besides the words. None is the server's own choice."""

    agent: str | None = None
    model: str | None = None
    session: str | None = None
    user: str | None = None
    assistant: str | None = None
    thinking: str | None = None
    tools: list[str] | None = None

    def request(self, query: str) -> dict[str, Any]:
        """The body of a chat request."""
        fields = {
            "query": query,
            "agent": self.agent,
            "modelName": self.model,
            "sessionId": self.session,
            "userId": self.user,
            "assistantId": self.assistant,
            "thinking": self.thinking,
            "tools": self.tools,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def turn_to(self, session: str | None, row: dict[str, Any] | None = None) -> None:
        """Go on in another session, of which the server's listing or view may be known; None begins a new one."""
        row = row or {}
        self.session, self.user, self.assistant = session, row.get("userId"), row.get("assistantId")

    @property
    def owner(self) -> dict[str, str]:
        """Whose session it is, as the query of a call."""
        given = {"userId": self.user, "assistantId": self.assistant}
        return {name: value for name, value in given.items() if value is not None}
