"""The ids of calls: the harness's own, and those that a provider knows."""

from base64 import b32encode
from collections.abc import Iterable
from hashlib import sha256

from talaria.core.messages import ToolCall


class CallIds:
    """Maps a conversation's call ids to what the provider gets.

    Args:
        length: how many letters and digits an id must have; 0 for any.
    """

    __slots__ = ("_known", "_length")

    def __init__(self, length: int) -> None:
        self._length = length
        self._known: dict[str, str] = {}

    def learn(self, calls: Iterable[ToolCall]) -> None:
        """The provider's own id goes back to it, unless it gave one id to two calls of a message."""
        taken: set[str] = set()
        for call in calls:
            id_ = _fitted(call.provider_id or call.id, self._length)
            self._known[call.id] = _fitted(call.id, self._length) if id_ in taken else id_
            taken.add(self._known[call.id])

    def of(self, id_: str) -> str:
        """Return what the provider gets for an id of the harness."""
        return self._known.get(id_) or _fitted(id_, self._length)


def _fitted(id_: str, length: int) -> str:
    if not length or (len(id_) == length and id_.isascii() and id_.isalnum()):
        return id_
    return b32encode(sha256(id_.encode("utf-8", "replace")).digest()).decode()[:length]
