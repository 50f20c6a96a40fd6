"""Consent: the tool that stands for an action of an agent's own, so that people are asked about it as about a call."""

from typing import Any

from talaria.tools.declaration import Tool


async def _agreed(action: str, details: dict[str, Any] | None = None) -> str:
    del details
    return f"A person agreed to: {action}"


CONSENT: Tool[..., Any] = Tool(
    "ask_consent",
    "Ask a person whether an action may be taken.",
    {
        "type": "object",
        "properties": {
            "action": {"type": "string", "description": "What is to be done."},
            "details": {"type": "object", "description": "With what."},
        },
        "required": ["action"],
        "additionalProperties": False,
    },
    _agreed,
    approval=True,
    side_effects=False,
    source="builtin",
)
"""Its every call is asked about: consent to one action is none to the next."""
