"""The place of one session's sandbox: whether it runs, who uses it, and what its users must be told."""

import asyncio
from dataclasses import dataclass
from typing import Protocol

from talaria.core.ids import SessionKey
from talaria.ports.sandbox import Sandbox


class Connected(Sandbox, Protocol):
    """A sandbox that knows whether it is gone."""

    @property
    def lost(self) -> bool:
        """Whether it is gone: every call would raise SandboxLost."""
        ...


@dataclass(eq=False, slots=True)
class Place:
    """`name` is the sandbox's, "" before the first start. `work`: the one task that starts or ends it, if any does.

    `is_found`: it ran when this process began, and nobody has reached for it since. `used` in ms. `note`: what the
    model must be told of a sandbox that is not the one it knew.
    """

    session: str
    tenant: str
    name: str = ""
    used: int = 0
    users: int = 0
    has_room: bool = False
    is_found: bool = False
    is_forgotten: bool = False
    sandbox: Connected | None = None
    work: asyncio.Task[None] | None = None
    note: str = ""

    @property
    def runs(self) -> bool:
        """Whether there is a sandbox that takes memory."""
        return self.sandbox is not None or self.is_found

    @property
    def is_ready(self) -> bool:
        """Whether it can be used as it is."""
        return self.work is None and self.sandbox is not None and not self.sandbox.lost

    @property
    def is_idle(self) -> bool:
        """Whether it runs for nobody."""
        return self.runs and not self.users and self.work is None

    def take_note(self) -> str:
        """What must be told, once."""
        note, self.note = self.note, ""
        return note


def path_of(session: SessionKey) -> str:
    """The session that a sandbox is of: turns without memory share it."""
    return SessionKey(session.tenant, session.user, session.assistant, session.session).path
