"""Previews: a web server inside a session's sandbox, shown to the session's owner through a link that expires."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from hashlib import sha256
from secrets import token_urlsafe
from urllib.parse import quote

import msgspec

from talaria.core.errors import InvalidRequest, NotFound
from talaria.core.ids import SessionKey
from talaria.core.principal import Principal
from talaria.journal.views import iso_time
from talaria.ports.journal import Drop, Put
from talaria.ports.sandbox import Sandbox
from talaria.runtime.kit import Kit
from talaria.runtime.lookup import Lookup

PREVIEW = "preview"
PATH = "/ai-api/preview/"
MARK = "~"
"""What a ticket begins with, so that it is told from a path inside."""
LASTS = 12 * 3600 * 1000
"""Ms for which a link is good."""
LOWEST, HIGHEST = 1024, 65535
EVERY = 600.0
BATCH = 1_000
OVER = "this preview link is not valid, or not any more; ask for a new one"

Hold = Callable[[SessionKey], AbstractAsyncContextManager[Sandbox]]
"""Holds the sandbox that a session has now, in use meanwhile; NotFound if it has none. It starts none."""


class PreviewRow(msgspec.Struct, frozen=True, gc=False):
    """What a ticket shows. Its key is the digest of the ticket: the store cannot say what the ticket is."""

    session: str
    port: int


class Ticket(msgspec.Struct, frozen=True, gc=False):
    """What opens a preview: `path` is relative to the address of the server; times in ms."""

    value: str
    path: str
    expires_at: int


_encode = msgspec.json.Encoder().encode
_row = msgspec.json.Decoder(PreviewRow).decode


class Previews:
    """Makes tickets for previews, and opens what they show."""

    def __init__(self, kit: Kit, lookup: Lookup, hold: Hold) -> None:
        self._index = kit.store.index
        self._clock = kit.clock
        self._public = kit.settings.server.public_url or ""
        self._lookup = lookup
        self.hold = hold

    async def make(self, principal: Principal, session_id: str, assistant: str | None, port: str) -> Ticket:
        """Return a new ticket for a port of the sandbox that a session has now.

        Raises:
            InvalidRequest: not a port from 1024 to 65535.
            NotFound: no such session for this principal, or it has no sandbox now.
        """
        number = read_port(port)
        row = await self._lookup.session_row(principal, session_id, assistant)
        async with self.hold(SessionKey.parse(row.key)):
            value, expires_at = MARK + token_urlsafe(32), self._clock.now() + LASTS
        data = _encode(PreviewRow(row.key, number))
        await self._index.put([Put(PREVIEW, _digest(value), "", "", expires_at, data)])
        return Ticket(value, f"{PATH}{quote(session_id, safe='')}/{number}/{value}/", expires_at)

    def view(self, ticket: Ticket) -> dict[str, str]:
        """A ticket, as the wire shows it."""
        return {"url": f"{self._public}{ticket.path}", "expiresAt": iso_time(ticket.expires_at)}

    @asynccontextmanager
    async def open(self, value: str, session_id: str, port: str) -> AsyncGenerator[tuple[Sandbox, int, float]]:
        """Hold the sandbox of a ticket; give it, its port, and for how many seconds the ticket is still good.

        Raises:
            NotFound: the ticket is not for this, or not any more, or the session has no sandbox now.
        """
        row = await self._index.get(PREVIEW, _digest(value))
        now = self._clock.now()
        if row is None or row.at <= now:
            raise NotFound(OVER)
        shown = _row(row.data)
        key = SessionKey.parse(shown.session)
        if (key.session, str(shown.port)) != (session_id, port):
            raise NotFound(OVER)
        async with self.hold(key) as sandbox:
            yield sandbox, shown.port, (row.at - now) / 1000

    async def watch(self) -> None:
        """Forget tickets that are over, for ever."""
        while True:
            while old := await self._index.due(PREVIEW, self._clock.now(), BATCH):
                await self._index.put([Drop(PREVIEW, row.key) for row in old])
            await self._clock.sleep(EVERY)


def read_port(text: str) -> int:
    """Return the port that a path names.

    Raises:
        InvalidRequest: it is none that a preview may have.
    """
    if text.isascii() and text.isdigit() and len(text) <= 5 and LOWEST <= int(text) <= HIGHEST:
        return int(text)
    raise InvalidRequest(f"a preview has a port from {LOWEST} to {HIGHEST}")


def _digest(value: str) -> str:
    return sha256(value.encode(errors="replace")).hexdigest()
