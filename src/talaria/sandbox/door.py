"""The door to a session's sandbox: a `Sandbox` that starts, holds and replaces the real one."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Protocol, TypeVar

from talaria.core.errors import NotFound, SandboxLost, TalariaError
from talaria.core.ids import SessionKey
from talaria.ports.sandbox import Command, Exited, FileInfo, Pipe, Sandbox
from talaria.sandbox.limits import Counters
from talaria.sandbox.place import Place

ENDED = (
    "the sandbox ended while this ran: what ran in it and the files in /tmp are gone, and it is not known what the "
    "command has done; the next call starts a new sandbox on the same /workspace"
)
T = TypeVar("T")


class Uses(Protocol):
    """Where sandboxes are held."""

    def use(self, session: SessionKey) -> AbstractAsyncContextManager[Place]:
        """Hold the session's sandbox."""
        ...


class Door:
    """The sandbox of one session, in use while a method runs or a pipe is open. `env` is there for every command.

    Every method raises SandboxUnavailable where none can be started. What can be done twice is done again in a new
    sandbox when the one in use ends; a command is not. Closing does nothing: the sandbox is the session's.
    """

    def __init__(self, uses: Uses, session: SessionKey, counters: Counters, env: Mapping[str, str]) -> None:
        self._uses = uses
        self._session = session
        self._counters = counters
        self._env = env

    async def exec(self, command: Command, output: Callable[[bytes], None] | None = None) -> Exited:
        """See Sandbox."""
        command = replace(command, env={**self._env, **command.env})
        async with self._uses.use(self._session) as place:
            outcome = "cancelled"
            try:
                exited = await _in(place).exec(command, output)
                outcome = exited.reason
            except SandboxLost as error:
                outcome = "lost"
                raise SandboxLost(ENDED) from error
            except TalariaError:
                outcome = "refused"
                raise
            finally:
                self._counters.count("sandbox_commands", outcome=outcome)
            return replace(exited, note=place.take_note())

    async def read(self, path: str, offset: int = 0, limit: int | None = None) -> bytes:
        """See Sandbox."""
        return await self._twice(lambda sandbox: sandbox.read(path, offset, limit))

    async def write(self, path: str, data: AsyncIterator[bytes] | bytes) -> None:
        """See Sandbox."""
        do = self._twice if isinstance(data, bytes) else self._once
        await do(lambda sandbox: sandbox.write(path, data))

    async def list(self, path: str = "", *, depth: int = 1, limit: int = 10_000) -> list[FileInfo]:
        """See Sandbox."""
        return await self._twice(lambda sandbox: sandbox.list(path, depth=depth, limit=limit))

    async def dial(self, port: int) -> Pipe:
        """See Sandbox."""
        held = self._uses.use(self._session)
        place = await held.__aenter__()
        try:
            return _Held(await _in(place).dial(port), held)
        except BaseException:
            await held.__aexit__(None, None, None)
            raise

    async def close(self) -> None:
        """See Sandbox."""

    async def _twice(self, do: Callable[[Sandbox], Awaitable[T]]) -> T:
        try:
            return await self._once(do)
        except SandboxLost:
            return await self._once(do)

    async def _once(self, do: Callable[[Sandbox], Awaitable[T]]) -> T:
        async with self._uses.use(self._session) as place:
            try:
                return await do(_in(place))
            except NotFound as error:
                if not place.note:
                    raise
                raise NotFound(f"{error.message}. {place.take_note()}") from error


class _Held:
    """A pipe that holds the sandbox until it is closed."""

    def __init__(self, pipe: Pipe, held: AbstractAsyncContextManager[Place]) -> None:
        self._pipe = pipe
        self._held: AbstractAsyncContextManager[Place] | None = held

    async def read(self) -> bytes:
        return await self._pipe.read()

    async def write(self, data: bytes) -> None:
        await self._pipe.write(data)

    async def close(self) -> None:
        held, self._held = self._held, None
        try:
            await self._pipe.close()
        finally:
            if held is not None:
                await held.__aexit__(None, None, None)


def _in(place: Place) -> Sandbox:
    if place.sandbox is None:  # it was ended under its user: the session was deleted, or the server stops
        raise SandboxLost("the sandbox was ended")
    return place.sandbox
