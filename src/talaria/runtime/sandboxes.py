"""The sandboxes of a runtime: opened when the first is needed, each session's behind a door of its own."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import structlog

from talaria.core.errors import NotFound, SandboxLost, SandboxUnavailable
from talaria.core.ids import SessionKey
from talaria.ports.clock import Clock
from talaria.ports.journal import Journal
from talaria.ports.sandbox import Sandbox
from talaria.runtime.request import variable_name
from talaria.runtime.sandbox_kinds import Chosen, choose, may_exist
from talaria.runtime.sandbox_state import lasting_state, remove_state, temporary_state
from talaria.runtime.settings import SandboxSettings, Settings
from talaria.sandbox.door import Door
from talaria.sandbox.launcher import Link, Size
from talaria.sandbox.limits import Limits
from talaria.sandbox.place import Connected, Place
from talaria.sandbox.pool import EVERY, Pool
from talaria.sandbox.starting import Kind
from talaria.telemetry.metrics import Metrics

COOLDOWN = 10.0
"""Seconds for which it is not tried again after none could be had."""
PATIENCE = 30.0
"""Seconds that a deletion waits for a sandbox to end; it ends all the same."""
PROXY = 3128
"""The port on which commands find the proxy to the hosts that they may reach."""

NEITHER = (
    "no sandbox can be had here, and code never runs without one: install Docker, or on Linux bubblewrap "
    "(apt-get install bubblewrap)"
)

_log = structlog.get_logger("talaria.sandbox")


class Site(NamedTuple):
    """What is known of sandboxes before any is needed. `state`: where they are found again; None: they need not be."""

    settings: SandboxSettings
    state: Path | None
    may_exist: bool

    @staticmethod
    def of(settings: Settings) -> "Site":
        """Look. Blocks.

        Raises:
            ConfigurationError: an entry of `sandbox.egress` is no host.
        """
        if settings.sandbox.network == "egress":
            from talaria.sandbox.egress import Allowed  # noqa: PLC0415 - loaded where something is let out

            Allowed(settings.sandbox.egress)
        return Site(settings.sandbox, lasting_state(settings), may_exist(settings.sandbox))


class Sandboxes:
    """Nothing is touched before a sandbox is needed, but for what an earlier process left."""

    def __init__(self, site: Site, clock: Clock, metrics: Metrics, journal: Journal) -> None:
        self._settings = site.settings
        self._state = site.state
        self._clock = clock
        self._metrics = metrics
        self._journal = journal
        self._may_exist = site.may_exist
        self._opening: asyncio.Task[Pool] | None = None
        self._pool: Pool | None = None
        self._temporary: Path | None = None
        self._not_before = 0.0
        self.kind = ""
        self.why = "" if self._may_exist else NEITHER
        """Why it is this kind, or why there is none; "" while nobody has looked."""

    @property
    def refusal(self) -> str:
        """Why there are none though there should be; "" while nobody has looked."""
        return "" if self.kind or self._settings.kind == "none" else self.why

    @property
    def is_offered(self) -> bool:
        """Whether tools that need a sandbox are offered."""
        return self._may_exist and not self.refusal

    @property
    def running(self) -> int:
        """How many there are."""
        return 0 if self._pool is None else self._pool.running

    def door(self, session: SessionKey, secrets: Mapping[str, str] | None = None) -> Sandbox | None:
        """The sandbox of a session, which starts when it is first used; None where there are none.

        `secrets` are in the environment of commands.
        """
        if not self.is_offered:
            return None
        env = {variable_name(name): value for name, value in (secrets or {}).items()}
        return Door(self, session, self._metrics, env)

    @asynccontextmanager
    async def use(self, session: SessionKey) -> AsyncGenerator[Place]:
        """See Pool.

        Raises:
            SandboxUnavailable: none can be had here, or now.
        """
        pool = await self._opened()
        async with pool.use(session) as place:
            yield place

    @asynccontextmanager
    async def hold(self, session: SessionKey) -> AsyncGenerator[Sandbox]:
        """Hold the sandbox that a session has now, in use meanwhile; none is started for that.

        Raises:
            NotFound: it has none.
        """
        if self._pool is None or not self._pool.is_running(session):
            raise NotFound("this session has no sandbox now; it gets one when it runs code")
        async with self._pool.use(session) as place:
            if place.sandbox is None:
                raise SandboxLost("the sandbox was ended")
            yield place.sandbox

    async def look(self) -> None:
        """Find out whether sandboxes can be had, and open them; `kind` and `why` say what came of it."""
        if not self._may_exist:
            return
        try:
            await self._opened()
        except SandboxUnavailable as error:
            _log.warning("no_sandboxes", error=error.message)

    def forget(self, session: SessionKey) -> None:
        """The session is over: its sandbox goes, and its workspace. A turn that comes now gets a new one."""
        if self._pool is not None:
            self._pool.forget(session)

    async def remove(self, session: SessionKey) -> None:
        """See `forget`; returns once that is done, or when it takes long."""
        going = None if self._pool is None else self._pool.forget(session)
        if going is not None:
            await asyncio.wait((going,), timeout=PATIENCE)

    async def watch(self) -> None:
        """Take up what an earlier process left, then keep order for as long as the runtime is open."""
        if self._state is not None and await asyncio.to_thread(self._state.exists):
            await self.look()
        while self._pool is None:
            await self._clock.sleep(EVERY)
        await self._pool.watch()

    async def close(self) -> None:
        """End all of them. Workspaces stay if the store does."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait((self._opening,))
        if self._pool is not None:
            await self._pool.close()
        if self._temporary is not None:
            await remove_state(self._temporary)

    # Opening

    async def _opened(self) -> Pool:
        """The pool; one attempt at a time, whoever asks."""
        if self._pool is not None:
            return self._pool
        if not self._may_exist or asyncio.get_running_loop().time() < self._not_before:
            raise SandboxUnavailable(self.why)
        if self._opening is None:
            self._opening = asyncio.create_task(self._open(), name="sandboxes")
        opening = self._opening
        await asyncio.wait((opening,))
        if opening.cancelled():
            raise SandboxUnavailable("the server is stopping; try again in a moment")
        return opening.result()

    async def _open(self) -> Pool:
        chosen = None
        try:
            chosen = await self._choose()
            pool = Pool(make_kind(self._settings, chosen), chosen.records, self._limits(), self._clock, self._metrics)
            await pool.open(self._is_alive)
        except BaseException as error:
            if chosen is not None:
                await chosen.launcher.close()
                chosen.records.close()
            if isinstance(error, SandboxUnavailable):
                self.kind, self.why = "", error.message
                self._not_before = asyncio.get_running_loop().time() + COOLDOWN
            raise
        finally:
            self._opening = None
        self._pool, self.kind, self.why = pool, chosen.launcher.kind, chosen.why
        _log.info("sandboxes", kind=self.kind, why=self.why)
        return pool

    async def _choose(self) -> Chosen:
        if self._state is None and self._temporary is None:
            self._temporary = await temporary_state(self._settings)
        state = self._state or self._temporary
        assert state is not None
        return await choose(self._settings, state)

    def _limits(self) -> Limits:
        settings = self._settings
        return Limits(
            size=settings.max,
            idle=settings.idle,
            keep=settings.keep,
            spares=settings.spares,
            is_lasting=self._temporary is None,
        )

    async def _is_alive(self, path: str) -> bool:
        """Whether the store has the session, or a turn of it without memory."""
        if await self._journal.read(path, limit=1):
            return True
        inside = f"{path}/"
        return any(each.startswith(inside) for each in await self._journal.sessions(inside, 1))


def make_kind(settings: SandboxSettings, chosen: Chosen) -> Kind:
    """What all sandboxes of a deployment have in common."""
    from talaria.sandbox.agent_sandbox import AgentSandbox  # noqa: PLC0415 - loaded where there are sandboxes
    from talaria.sandbox.egress import Allowed, EgressProxy  # noqa: PLC0415 - see above

    proxy = EgressProxy(Allowed(settings.egress)) if settings.network == "egress" else None

    async def connect(link: Link) -> Connected:
        sandbox = AgentSandbox(link, proxy and proxy.serve)
        await sandbox.open()
        return sandbox

    size = Size(memory=settings.memory, cpus=settings.cpus, pids=settings.pids, disk=settings.disk)
    options = {
        "disk": settings.disk,
        "orphan": settings.idle,
        "egress": PROXY if settings.network == "egress" else 0,
    }
    return Kind(launcher=chosen.launcher, connect=connect, size=size, options=options)
