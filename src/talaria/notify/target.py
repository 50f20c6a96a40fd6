"""Where notices go: an address, how it wants them, and which ones."""

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from urllib.parse import urlsplit

from talaria.notify.notice import Event


@dataclass(frozen=True, slots=True)
class Approver:
    """Who decides through the links that are sent."""

    user: str
    roles: tuple[str, ...] = ()


@dataclass(frozen=True)
class Target:
    """One address. `number` is its place in the configuration; `agents` None means all of them.

    `approver` None: whoever the run belongs to.
    """

    number: int
    on: frozenset[Event]
    format: str
    url: str = field(repr=False)
    secret: str = field(default="", repr=False)
    agents: frozenset[str] | None = None
    approver: Approver | None = None

    @cached_property
    def id(self) -> str:
        """The same as long as it is the same address for the same person, whatever else the configuration says."""
        who = self.approver.user if self.approver is not None else ""
        return sha256(f"{self.format}\n{self.url}\n{who}".encode()).hexdigest()[:16]

    @property
    def kind(self) -> str:
        """The kind of index row under which its deliveries wait."""
        return f"notice:{self.id}"

    @property
    def host(self) -> str:
        """All of the address that may be shown: the rest may be a key."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    def wants(self, event: Event, agent: str) -> bool:
        """Whether it is told of this."""
        return event in self.on and (self.agents is None or agent in self.agents)
