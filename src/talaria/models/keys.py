"""The keys of one route: used in turn, and left alone for a while when the provider refuses one."""

from collections.abc import Sequence


class Keys:
    """Gives the keys of a route in turn. Times are in ms since 1970."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._rests = dict.fromkeys(keys or ("",), 0)

    def take(self, now: int) -> str:
        """Return the key unused for longest of those that don't rest; else the one that rests least."""
        if len(self._rests) == 1:
            return next(iter(self._rests))
        free = [key for key, until in self._rests.items() if until <= now]
        key = free[0] if free else min(self._rests, key=self._rests.__getitem__)
        self._rests[key] = self._rests.pop(key)  # to the end of the line
        return key

    def rest(self, key: str, until: int) -> None:
        """Leave a key alone."""
        self._rests[key] = until

    def has_free(self, now: int) -> bool:
        """Whether there is a key that does not rest."""
        return any(until <= now for until in self._rests.values())
