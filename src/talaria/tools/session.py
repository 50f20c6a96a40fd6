"""`Session`: what a tool or a program may know of a session, and the variables that are kept in it."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import Any

import msgspec

from talaria.core.errors import Conflict, InvalidRequest
from talaria.core.ids import SessionKey
from talaria.core.messages import Message
from talaria.core.principal import Principal
from talaria.journal.state import SessionState, with_variable

LONGEST_NAME = 128
LARGEST_VALUE = 32 * 1024
MOST_VARIABLES = 200

Keep = Callable[[str, Any], Awaitable[None]]


class Session:
    """A session: its messages, and variables that last as long as it does, restarts included.

    Reading works on any thread. `principal` is whom the run (or the program) acts for.
    """

    def __init__(self, state: SessionState, principal: Principal, keep: Keep | None = None) -> None:
        self.principal = principal
        self._state = state
        self._keep = keep
        self._loop = _running_loop()

    def __repr__(self) -> str:
        return f"Session({self.id!r})"

    @property
    def key(self) -> SessionKey:
        """Whose session this is, in full."""
        return self._state.key

    @property
    def id(self) -> str:
        """The session's id, as requests name it."""
        return self._state.key.session

    @property
    def messages(self) -> tuple[Message, ...]:
        """What was said so far; a round whose calls have not all ended is not in it."""
        return tuple(self._state.prompt.messages)

    @property
    def variables(self) -> Mapping[str, Any]:
        """The variables as they are now: a copy, which later changes do not reach."""
        return MappingProxyType(deepcopy(self._state.variables))

    async def set(self, key: str, value: Any) -> None:
        """Set a variable to a JSON value; None removes it. Returns once that is durable.

        Raises:
            InvalidRequest: `value` has no JSON form, is over 32 KiB or holds a secret of the request, or there are 200
                variables.
            Conflict: the run has ended or parked, or the session was opened to be read only.
        """
        if self._keep is None:
            raise Conflict(f"session '{self.id}' can only be read here; a tool of a run may set its variables")
        plain = _checked(key, value)
        if key not in self._state.variables and plain is not None and len(self._state.variables) >= MOST_VARIABLES:
            raise InvalidRequest(f"session.set: there are {MOST_VARIABLES} variables already; remove some with None")
        await self._keep(key, plain)

    def set_sync(self, key: str, value: Any) -> None:
        """Do what `set` does from a plain function, which runs on a thread; it waits there.

        Raises:
            RuntimeError: it was called on the event loop's own thread, which must not wait.
        """
        if _running_loop() is not None:
            raise RuntimeError("session.set_sync waits, and this is the event loop; use 'await session.set(…)'")
        if self._loop is None:
            asyncio.run(self.set(key, value))
        else:
            asyncio.run_coroutine_threadsafe(self.set(key, value), self._loop).result()


def session_in_memory(
    name: str = "", principal: Principal | None = None, variables: Mapping[str, Any] | None = None
) -> Session:
    """Return a session that belongs to no runtime, for tests of tools."""
    whom = principal or Principal()
    state = SessionState(SessionKey(whom.tenant, whom.user, "-", name))
    state.variables = dict(variables or {})

    async def keep(key: str, value: Any) -> None:
        state.variables = with_variable(state.variables, key, value)

    return Session(state, whom, keep)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _checked(key: str, value: Any) -> Any:
    """The value as JSON reads it back: a copy, with lists for tuples."""
    if not 0 < len(key) <= LONGEST_NAME:
        raise InvalidRequest(f"session.set: a name has 1 to {LONGEST_NAME} characters, not {len(key)}")
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        key.encode()
        plain = msgspec.json.decode(text)
        size = len(msgspec.json.encode(plain))
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.DecodeError) as error:
        raise InvalidRequest(f"session.set: the value of '{key[:80]!a}' has no JSON form: {error}") from error
    if size > LARGEST_VALUE:
        raise InvalidRequest(
            f"session.set: the value of '{key}' has {size} bytes as JSON, more than {LARGEST_VALUE}; "
            "keep it elsewhere and its address here"
        )
    return plain
