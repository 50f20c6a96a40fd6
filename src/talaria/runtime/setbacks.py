"""Sessions whose owner had to give up, and when each is tried again."""

FIRST_MS = 1_000
LONGEST_MS = 30_000


class Setbacks:
    """Waits double from one to thirty seconds, until the session's owner gets through. Times in ms."""

    def __init__(self) -> None:
        self._waits: dict[str, int] = {}
        self._due: dict[str, int] = {}

    def note(self, session: str, now: int) -> int:
        """An owner gave up: return when to try again."""
        wait = self._waits[session] = min(2 * self._waits.get(session, FIRST_MS // 2), LONGEST_MS)
        self._due[session] = now + wait
        return now + wait

    def clear(self, session: str) -> None:
        """An owner got through, or there is nothing to try any more."""
        self._waits.pop(session, None)
        self._due.pop(session, None)

    def due(self, now: int) -> list[str]:
        """The sessions to try now; each is told once."""
        due = [session for session, at in self._due.items() if at <= now]
        for session in due:
            del self._due[session]
        return due

    def next_due(self) -> int | None:
        """When the next of them is due."""
        return min(self._due.values(), default=None)
