"""Identifiers: time-ordered, unguessable, and of one alphabet that is safe in URLs, logs and SSE ids."""

import os
import re
import time
from urllib.parse import quote, unquote

import msgspec

_PLAIN = re.compile(r"[A-Za-z0-9_.~-]*").fullmatch
SESSION_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")


def new_id(prefix: str) -> str:
    """Return `prefix_` and 26 hex digits: 10 of time (so that ids sort by age), 16 of randomness."""
    return f"{prefix}_{int(time.time() * 16) & 0xFFFFFFFFFF:010x}{os.urandom(8).hex()}"


class SessionKey(msgspec.Struct, frozen=True, gc=False):
    """Whose session: tenant, user, assistant ("-" when none) and session id; `run` for a turn without server memory."""

    tenant: str
    user: str
    assistant: str
    session: str
    run: str = ""

    @property
    def path(self) -> str:
        """The one string under which stores keep this session."""
        parts = (self.tenant, self.user, self.assistant, self.session, *((self.run,) if self.run else ()))
        return "/".join([_quote(part) for part in parts])

    @property
    def scope(self) -> str:
        """Tenant and user as one string: what listings are limited to."""
        return scope_of(self.tenant, self.user)

    @staticmethod
    def parse(path: str) -> "SessionKey":
        """The inverse of `path`."""
        return SessionKey(*(unquote(part) for part in path.split("/")))


def scope_of(tenant: str, user: str = "") -> str:
    """The scope of a user in listings; without one that of the tenant, with which those of all its users begin."""
    return f"{_quote(tenant)}/{_quote(user)}"


def read_scope(scope: str) -> tuple[str, str]:
    """The tenant and the user of a scope."""
    tenant, _, user = scope.partition("/")
    return unquote(tenant), unquote(user)


def _quote(part: str) -> str:
    return part if _PLAIN(part) else quote(part, safe="")
