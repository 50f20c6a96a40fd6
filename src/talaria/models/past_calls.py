"""Past calls as they go back: whatever a model wrote, its provider takes it."""

import re
from typing import Final

import msgspec

from talaria.models.calls import is_object

NOTHING: Final = "(no output)"
"""The result of a call that had none, where a result must not be empty."""
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def sent_name(name: str) -> str:
    """Return the name of a past call, in the letters that every provider takes."""
    return _NO_NAME.sub("_", name)[:64]


def sent_arguments(text: str) -> str:
    """Return the arguments of a past call. Providers read them as JSON; what is none goes back inside an object."""
    return text if is_object(text) else msgspec.json.encode({"invalid_arguments": text}).decode()
