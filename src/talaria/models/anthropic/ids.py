"""Ids of calls as the Messages API takes them: letters, digits, "_" and "-", none twice in a conversation."""

import re

from talaria.core.messages import ToolCall

_FOREIGN = re.compile("[^a-zA-Z0-9_-]")


class Ids:
    """Names each call as its provider did, where that is possible, and its result the same."""

    __slots__ = ("_of_call", "_taken")

    def __init__(self) -> None:
        self._of_call: dict[str, str] = {}
        self._taken: set[str] = set()

    def name(self, call: ToolCall) -> str:
        """Return the id of a call that is new."""
        wanted = _FOREIGN.sub("_", call.provider_id or call.id) or "call"
        name, count = wanted, 1
        while name in self._taken:
            count += 1
            name = f"{wanted}_{count}"
        self._taken.add(name)
        self._of_call[call.id] = name
        return name

    def of(self, call_id: str) -> str:
        """Return the id that the newest call of this name was given."""
        return self._of_call.get(call_id) or _FOREIGN.sub("_", call_id) or "call"
