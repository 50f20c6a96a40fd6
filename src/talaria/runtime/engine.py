"""The local engine: which sessions are driven now, which wait for a place, and what wakes the others."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager

import structlog

from talaria.core.errors import InternalError, JournalError, Overloaded, StoreClosed
from talaria.core.ids import SessionKey
from talaria.journal.entries import AnyEntry, RunParked
from talaria.journal.index import RUN_NOW, WAKE
from talaria.journal.session import load_state
from talaria.journal.state import SessionState
from talaria.runtime.kit import Kit
from talaria.runtime.owner import Owner
from talaria.runtime.setbacks import Setbacks

WARM_MS = 20_000
"""How long the state of a session without work stays in memory, so that a quick next turn need not read it again."""
SWEEP = 5.0
RETRY = 1.0
LOOK = 1_000
"""How many of the sessions that are due are looked up at once."""

_log = structlog.get_logger("talaria.engine")


class Engine:
    """Drives sessions: one task a session at work, none for one that waits."""

    def __init__(self, kit: Kit, make_owner: Callable[[], Owner]) -> None:
        self._store = kit.store
        self._clock = kit.clock
        self._hub = kit.hub
        self._outcomes = kit.outcomes
        self._make_owner = make_owner
        self._max_runs = kit.settings.server.max_runs
        self._owners: dict[str, Owner] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ready: dict[str, None] = {}
        self._coming: Counter[str] = Counter()
        self._rests: dict[str, asyncio.Event] = {}
        self._warm: dict[str, tuple[int, SessionState]] = {}
        self._background: list[asyncio.Task[None]] = []
        self._alarm_changed = asyncio.Event()
        self._next_alarm: int | None = None
        self._setbacks = Setbacks()
        self._stopping = False

    @property
    def running(self) -> int:
        """How many sessions are at work."""
        return len(self._owners)

    @property
    def lined_up(self) -> int:
        """How many sessions wait for a place."""
        return len(self._ready)

    @property
    def is_full(self) -> bool:
        """Whether a session that wakes now has to wait for a place."""
        return len(self._owners) >= self._max_runs

    @property
    def is_stopping(self) -> bool:
        """Whether no new work is taken any more."""
        return self._stopping

    def is_working(self, session: str) -> bool:
        """Whether the session is at work or about to be."""
        return session in self._owners or session in self._ready

    def is_at_rest(self, session: str) -> bool:
        """Whether nothing has happened in the session, or in one of its turns without memory, for a while."""
        now = self._clock.now()
        warm = [path for path, (until, _) in self._warm.items() if until > now]
        busy = (*self._owners, *self._ready, *self._coming, *warm)
        return not any(path == session or path.startswith(f"{session}/") for path in busy)

    async def settle(self, session: str, seconds: float) -> bool:
        """Wait until the session is no longer at work; return whether it came to that in time."""
        try:
            async with asyncio.timeout(seconds):
                while self.is_working(session):
                    await self._rests.setdefault(session, asyncio.Event()).wait()
        except TimeoutError:
            return False
        return True

    async def start(self, *more: Callable[[], Awaitable[None]]) -> None:
        """Take up what an earlier process left, then listen, and do `more` beside that until it stops."""
        for listen in (self._watch_mail, self._watch_alarms, self._sweep, *more):
            self._background.append(asyncio.create_task(_keep(listen), name=listen.__name__))
        await self._ring()

    async def stop(self, grace: float) -> None:
        """Give running runs `grace` seconds, then stop them where they are; they resume at the next start."""
        self._stopping = True
        tasks = set(self._tasks.values())
        if tasks and grace > 0:
            await asyncio.wait(tasks, timeout=grace)
        for task in (*tasks, *self._background):
            task.cancel()
        await asyncio.gather(*tasks, *self._background, return_exceptions=True)

    @contextmanager
    def place(self, session: str, queue: int) -> Generator[int]:
        """Hold a place while a letter is put for the session; gives how many are being put for it already.

        Raises:
            Overloaded: all places to run and to wait are taken, or the engine is stopping; try again later.
        """
        self._check_room(queue)
        before = self._coming[session]
        self._coming[session] += 1
        try:
            yield before
        finally:
            self._coming[session] -= 1
            if not self._coming[session]:
                del self._coming[session]

    def arrived(self, session: str) -> None:
        """The letter is in the inbox: from here on it is the session that takes a place."""
        if not self.is_working(session):
            self.wake(session)

    def _check_room(self, queue: int) -> None:
        if self._stopping:
            raise Overloaded("the server is stopping; try again in a moment", retry_after=5)
        if len(self._owners) + len(self._ready) + self._coming.total() >= self._max_runs + queue:
            raise Overloaded("all places to run and to wait are taken; try again later", retry_after=2)

    def wake(self, session: str) -> None:
        """There may be something to do for this session."""
        owner = self._owners.get(session)
        if owner is not None:
            owner.notify()
        else:
            self._ready[session] = None
            self._pump()

    def watch(self, placed: Sequence[tuple[int, AnyEntry]]) -> None:
        """Entries have become durable: a parked run sets an alarm."""
        for _, entry in placed:
            if isinstance(entry, RunParked):
                self._set_alarm(entry.until)

    def forget(self, session: str) -> None:
        """The session was deleted: nothing of it stays in memory."""
        self._warm.pop(session, None)
        self._setbacks.clear(session)

    # Owners

    def _pump(self) -> None:
        while self._ready and not self.is_full and not self._stopping:
            session = next(iter(self._ready))
            del self._ready[session]
            self._owners[session] = owner = self._make_owner()
            self._tasks[session] = asyncio.create_task(self._own(session, owner), name=f"owner {session}")

    async def _own(self, session: str, owner: Owner) -> None:
        epoch = None
        try:
            epoch = await self._store.leases.acquire(session)
            if epoch is None:
                _log.info("session_owned_elsewhere", journal=session)
                return
            warm = self._warm.pop(session, None)
            state = warm[1] if warm else await self._load(session)
            left = await owner.own(state, epoch)
            if left is None:
                told = state.active.id if state.active is not None else ""
                self._outcomes.fail(told, _not_now())
                await self._give_up(session, owner.refusal, told)
            else:
                self._keep_warm(session, left)
        except Exception as error:  # noqa: BLE001 - a session's boundary: the others go on
            _log.exception("owner_failed", journal=session)
            owner.has_mail = False  # it would fail again: the next letter, alarm or start tries
            await self._give_up(session, error)
        finally:
            if epoch is not None:
                await self._store.leases.release(session, epoch)
            del self._owners[session], self._tasks[session]
            if owner.has_mail and epoch is not None:
                self._ready[session] = None
            elif (rest := self._rests.pop(session, None)) is not None:
                rest.set()
            self._pump()

    def _keep_warm(self, session: str, state: SessionState) -> None:
        self._setbacks.clear(session)
        if state.active is not None:
            state.prompt.cache.clear()  # it waits for a person: encoding again costs less than keeping
        if state.seq:
            self._warm[session] = (self._clock.now() + WARM_MS, state)

    async def _give_up(self, session: str, error: Exception | None, told: str = "") -> None:
        """Tell whoever waits for the session's runs that they do not go on for now; try again where that can help.

        Whoever waits for the run `told` knows.
        """
        if isinstance(error, JournalError) and not isinstance(error, StoreClosed):
            self._set_alarm(self._setbacks.note(session, self._clock.now()))
        try:
            wake = await self._store.index.get(WAKE, session)
            letters = await self._store.inbox.pending(session)
        except JournalError:
            return  # it is closed, and with it everything that waits; or the next try brings it
        waiting = [letter.run for letter in letters if letter.kind == "turn"]
        for run_id in {*([wake.data.decode()] if wake else []), *waiting} - {told}:
            refusal = _not_now()
            self._outcomes.fail(run_id, refusal)
            self._hub.own(run_id, 0).fail(refusal.message)
            self._hub.disown(run_id)

    async def _load(self, session: str) -> SessionState:
        return await load_state(self._store.journal, self._store.blobs, SessionKey.parse(session))

    # What wakes sessions

    async def _watch_mail(self) -> None:
        mail = self._store.inbox.watch()
        for session in await self._store.inbox.waiting():
            self.wake(session)
        async for session in mail:
            await self._look_for_cancel(session)
            self.wake(session)

    async def _look_for_cancel(self, session: str) -> None:
        """A cancel does not wait until the action under way has ended."""
        owner = self._owners.get(session)  # not in the caller: its variables live on while it waits for mail
        if owner is None:
            return
        letters = await self._store.inbox.pending(session)
        running = owner.session
        if running is not None and any(each.kind == "cancel" and each.run == running.run.id for each in letters):
            running.interrupt()

    async def _watch_alarms(self) -> None:
        while True:
            if self._next_alarm is not None and self._next_alarm <= self._clock.now():
                await self._ring()
                continue
            sleeper = asyncio.create_task(self._sleep_until(self._next_alarm), name="alarm")
            changed = asyncio.create_task(self._alarm_changed.wait(), name="alarm changed")
            try:
                await asyncio.wait((sleeper, changed), return_when=asyncio.FIRST_COMPLETED)
            finally:
                sleeper.cancel()
                changed.cancel()
            self._alarm_changed.clear()

    async def _sleep_until(self, alarm: int | None) -> None:
        now = self._clock.now()  # looked at here, in the task that sleeps: time may have passed since it was made
        await self._clock.sleep(3600.0 if alarm is None else min((alarm - now) / 1000, 3600.0))

    async def _ring(self) -> None:
        """Wake every session whose time has come: at its deadline, after a restart, or after a setback."""
        now, self._next_alarm = self._clock.now(), None
        try:
            await self._wake_due(now)
        except JournalError:
            self._set_alarm(now)  # or nobody would look again
            raise

    async def _wake_due(self, now: int) -> None:
        limit = LOOK + len(self._owners) + len(self._ready)  # those are still due until they are at work
        due = await self._store.index.due(WAKE, now, limit)
        for row in due:
            if row.at > RUN_NOW or row.session not in self._owners:
                self.wake(row.session)  # also one at work: it may have parked, and be on its way out
        later = await self._store.index.next_due(WAKE, now)
        self._set_alarm(now if len(due) == limit else later)
        for session in self._setbacks.due(now):
            self.wake(session)
        self._set_alarm(self._setbacks.next_due())

    def _set_alarm(self, at: int | None) -> None:
        if at is not None and (self._next_alarm is None or at < self._next_alarm):
            self._next_alarm = at
            self._alarm_changed.set()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            self.sweep()

    def sweep(self) -> None:
        """Forget what has not been of use for a while."""
        now = self._clock.now()
        for session in [key for key, (until, _) in self._warm.items() if until <= now]:
            del self._warm[session]
        self._hub.sweep()


async def _keep(listen: Callable[[], Awaitable[None]]) -> None:
    """Listen for ever: a fault is logged, and it begins again."""
    while True:
        try:
            await listen()
        except StoreClosed:
            return
        except Exception as error:  # noqa: BLE001 - without it no session would ever wake again
            _log.error("listener_failed", listener=listen.__name__, exc_info=error)
            await asyncio.sleep(RETRY)


def _not_now() -> InternalError:
    return InternalError("the run cannot go on now; it resumes once the server's store is in order")
