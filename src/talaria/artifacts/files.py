"""The files of a deployment: kept, found by their owners, read, and removed when their time is over."""

import hashlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress

import msgspec
import structlog

from talaria.artifacts.artifact import ARTIFACT, Artifact, artifact_of, new_artifact_id, row_of
from talaria.artifacts.media import HEAD, media_of
from talaria.artifacts.names import safe_name
from talaria.core.errors import InvalidRequest, NotFound, TalariaError
from talaria.core.ids import read_scope, scope_of
from talaria.core.principal import Principal
from talaria.ports.artifacts import Bytes
from talaria.ports.clock import Clock
from talaria.ports.journal import Drop, Index, Put

EVERY = 60.0
"""Seconds between two sweeps."""
BATCH = 500
"""How many files are looked up at once."""
ORPHAN = 24 * 3600.0
"""Seconds after which bytes that no row knows are removed; no upload takes so long."""
TIDY = 3600.0
"""Seconds between two looks for such bytes."""

_log = structlog.get_logger("talaria.files")


class TooLarge(InvalidRequest):
    """A file has more bytes than `artifacts.maxBytes`."""


class Files:
    """Files under ids that nobody can guess. `ttl` in ms; None: they stay."""

    def __init__(self, kept: Bytes, index: Index, clock: Clock, max_bytes: int, ttl: int | None) -> None:
        self._bytes = kept
        self._index = index
        self._clock = clock
        self.max_bytes = max_bytes
        self._ttl = ttl
        self._tidied = 0

    async def save(
        self, owner: Principal, name: str, data: AsyncIterator[bytes] | bytes, *, session: str = ""
    ) -> Artifact:
        """Keep a file of this owner, and of the session with this path: all or nothing; durable on return.

        Raises:
            TooLarge: it has too many bytes.
            Overloaded: it cannot be kept now.
        """
        artifact_id, watched = new_artifact_id(), _Watched(_pieces(data), self.max_bytes)
        await self._bytes.put(artifact_id, watched.pieces())
        now, name = self._clock.now(), safe_name(name)
        media = media_of(name, bytes(watched.head))
        artifact = Artifact(
            artifact_id,
            name,
            media.type,
            watched.size,
            now,
            watched.digest.hexdigest(),
            expires=0 if self._ttl is None else now + self._ttl,
            charset=media.charset,
            session=session,
        )
        await self._index.put([row_of(artifact, scope_of(owner.tenant, owner.user))])
        _log.info("file_saved", artifact=artifact_id, type=media.type, size=watched.size)
        return artifact

    async def find(self, owner: Principal, artifact_id: str) -> Artifact:
        """Return a file of this owner; where there is no login, everybody owns them all.

        Raises:
            NotFound: there is none for them: unknown, another's or expired.
        """
        row = await self._index.get(ARTIFACT, artifact_id)
        if row is None or not owner.may_see(*read_scope(row.scope)) or row.at <= self._clock.now():
            raise NotFound("there is no such file; it may have expired")
        return artifact_of(row)

    def read(self, artifact: Artifact, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes]:
        """Yield the bytes of a file from `start` to before `end`.

        Raises:
            NotFound: they are gone.
        """
        return self._bytes.read(artifact.id, start, end)

    async def whole(self, artifact: Artifact, limit: int) -> bytes:
        """Return the first `limit` bytes of a file."""
        return b"".join([piece async for piece in self.read(artifact, 0, min(limit, artifact.size))])

    async def give(self, owner: Principal, artifact: Artifact, session: str) -> None:
        """Let a file that belongs to no session yet belong to this one, and go with it."""
        if not artifact.session:
            given = msgspec.structs.replace(artifact, session=session)
            await self._index.put([row_of(given, scope_of(owner.tenant, owner.user))])

    async def delete_of(self, session: str) -> None:
        """Remove the files of the session with this path, and of its turns without memory."""
        scope = "/".join(session.split("/")[:2])
        before = None
        while rows := await self._index.find(ARTIFACT, scope, before=before, limit=BATCH):
            before = (rows[-1].at, rows[-1].key)
            await self._remove([row for row in rows if f"{artifact_of(row).session}/".startswith(f"{session}/")])

    async def watch(self) -> None:
        """Sweep for ever."""
        while True:
            with suppress(TalariaError):  # the store or the bytes cannot be reached; the next one finds the same
                await self.sweep()
            await self._clock.sleep(EVERY)

    async def sweep(self) -> None:
        """Remove files whose time is over, and now and then bytes that nobody knows."""
        while rows := await self._index.due(ARTIFACT, self._clock.now(), BATCH):
            await self._remove(rows)
            _log.info("files_expired", files=len(rows))
        if (now := self._clock.now()) >= self._tidied + TIDY * 1000:
            self._tidied = now
            if gone := await self._bytes.sweep(ORPHAN, self.is_known):
                _log.info("orphaned_bytes_removed", files=gone)

    async def check(self) -> None:
        """Return if files can be kept.

        Raises:
            Overloaded: they cannot.
        """
        await self._bytes.check()

    async def close(self) -> None:
        """Close what holds the bytes."""
        await self._bytes.close()

    async def is_known(self, key: str) -> bool:
        """Whether there is a file whose bytes are under this key."""
        return await self._index.get(ARTIFACT, key) is not None

    async def _remove(self, rows: list[Put]) -> None:
        """Bytes first: after a crash in between, the row still leads here."""
        for row in rows:
            await self._bytes.delete(row.key)
        if rows:
            await self._index.put([Drop(ARTIFACT, row.key) for row in rows])


class _Watched:
    """Bytes on their way: counted, and their beginning kept."""

    def __init__(self, data: AsyncGenerator[bytes], limit: int) -> None:
        self._data = data
        self._limit = limit
        self.size = 0
        self.head = bytearray()
        self.digest = hashlib.sha256()

    async def pieces(self) -> AsyncIterator[bytes]:
        async with aclosing(self._data):
            async for piece in self._data:
                self.size += len(piece)
                if self.size > self._limit:
                    raise TooLarge(f"a file may have {self._limit} bytes (artifacts.maxBytes), and this one has more")
                if len(self.head) < HEAD:
                    self.head += piece[: HEAD - len(self.head)]
                self.digest.update(piece)
                yield piece


async def _pieces(data: AsyncIterator[bytes] | bytes) -> AsyncGenerator[bytes]:
    if isinstance(data, bytes):
        yield data
        return
    async for piece in data:
        yield piece
