"""The inbox in memory: letters by key, and the keys that are still pending, by session."""

from collections.abc import AsyncIterator, Iterable, Sequence

from talaria.ports.inbox import Letter
from talaria.ports.journal import IndexRow
from talaria.stores.memory.index import MemoryIndex
from talaria.stores.memory.state import MemoryState, is_within
from talaria.stores.signals import Arrivals


class MemoryInbox:
    """See ports.inbox.Inbox."""

    def __init__(self, state: MemoryState, index: MemoryIndex) -> None:
        self._state = state
        self._index = index
        self._letters: dict[str, Letter] = {}
        self._turns: dict[str, Letter] = {}
        self._pending: dict[str, dict[str, Letter]] = {}
        self._number = 0
        self._numbers: dict[str, int] = {}
        self._arrivals: Arrivals | None = None

    async def put(self, letter: Letter, *, replace_before: int = 0, index: Sequence[IndexRow] = ()) -> Letter:
        """See the port."""
        self._state.check()
        old = self._letters.get(letter.key)
        if old is not None:
            if old.at >= replace_before or letter.key in self._numbers:
                return old
            self._forget(old)
        self._letters[letter.key] = letter
        self._index.write(index)
        self._number += 1
        self._numbers[letter.key] = self._number
        self._pending.setdefault(letter.session, {})[letter.key] = letter
        if letter.kind == "turn":
            self._turns.setdefault(letter.run, letter)
        if self._arrivals is not None:
            self._arrivals.add(letter.session)
        return letter

    def consume(self, keys: Iterable[str]) -> None:
        """Mark letters as answered, in an append."""
        for key in keys:
            if self._numbers.pop(key, None) is not None:
                session = self._letters[key].session
                del self._pending[session][key]
                if not self._pending[session]:
                    del self._pending[session]

    def forget(self, session: str) -> None:
        """Remove the letters of a session and of the paths under it."""
        for letter in [letter for letter in self._letters.values() if is_within(letter.session, session)]:
            self.consume((letter.key,))
            self._forget(letter)

    def _forget(self, letter: Letter) -> None:
        del self._letters[letter.key]
        if self._turns.get(letter.run) is letter:
            del self._turns[letter.run]

    async def get(self, key: str) -> Letter | None:
        """See the port."""
        self._state.check()
        return self._letters.get(key)

    async def turn(self, run: str) -> Letter | None:
        """See the port."""
        self._state.check()
        return self._turns.get(run)

    async def pending(self, session: str) -> list[Letter]:
        """See the port."""
        self._state.check()
        return list(self._pending.get(session, {}).values())

    async def waiting(self) -> list[str]:
        """See the port."""
        self._state.check()
        return sorted(self._pending, key=lambda session: self._numbers[next(iter(self._pending[session]))])

    def watch(self) -> AsyncIterator[str]:
        """See the port. Letters count from this call on."""
        self._state.check()
        self._arrivals = Arrivals()
        return self._watch(self._arrivals)

    async def _watch(self, arrivals: Arrivals) -> AsyncIterator[str]:
        while True:
            session = arrivals.take()
            if session is not None:
                yield session
            else:
                await arrivals.event.wait()

    def close(self) -> None:
        """Let the watcher see that the store is closed."""
        if self._arrivals is not None:
            self._arrivals.close()
