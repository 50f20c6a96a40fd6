"""Past calls as every provider takes them back: ids that fit and are unique, names of plain letters."""

import re
from base64 import b32encode
from hashlib import sha256
from typing import Final

import msgspec

from talaria.core.messages import ToolCall
from talaria.models.calls import is_object

NOTHING: Final = "(no output)"
"""The result of a call that had none, where a result must not be empty."""
LONGEST_NAME = 64
_FOREIGN = re.compile("[^a-zA-Z0-9_-]")


class CallIds:
    """Maps a conversation's call ids to what a provider gets: its own as they were, as far as it takes them.

    Args:
        longest: how many characters an id may have.
        exact: how many letters and digits an id must have; 0 for any.
        plain: ids have letters, digits, "_" and "-" only.
    """

    __slots__ = ("_exact", "_longest", "_of_call", "_plain", "_taken")

    def __init__(self, longest: int, *, exact: int = 0, plain: bool = False) -> None:
        self._longest = longest
        self._exact = exact
        self._plain = plain
        self._of_call: dict[str, str] = {}
        self._taken: set[str] = set()

    def name(self, call: ToolCall) -> str:
        """Return the id of a call that is new."""
        wanted = call.provider_id or call.id
        name, count = self._fitted(wanted), 1
        while name in self._taken:
            count += 1
            name = self._fitted(f"{wanted}_{count}")
        self._taken.add(name)
        self._of_call[call.id] = name
        return name

    def of(self, call_id: str) -> str:
        """Return the id that the newest call of this name was given."""
        return self._of_call.get(call_id) or self._fitted(call_id)

    def _fitted(self, id_: str) -> str:
        if self._exact:
            return id_ if len(id_) == self._exact and id_.isascii() and id_.isalnum() else _digest(id_)[: self._exact]
        fitted = (_FOREIGN.sub("_", id_) if self._plain else id_) or "call"
        return fitted if len(fitted) <= self._longest else _digest(id_)[: self._longest]


def sent_name(name: str) -> str:
    """A name as it may be sent: models invent names, also in other scripts, and those are sent back too."""
    if name.isascii() and name.isidentifier() and len(name) <= LONGEST_NAME:
        return name
    return _FOREIGN.sub("_", name)[:LONGEST_NAME] or "_"


def sent_arguments(text: str) -> str:
    """Return the arguments of a past call. Providers read them as JSON; what is none goes back inside an object."""
    return text if is_object(text) else msgspec.json.encode({"invalid_arguments": text}).decode()


def _digest(text: str) -> str:
    return b32encode(sha256(text.encode("utf-8", "replace")).digest()).decode().rstrip("=")
