"""Bytes as objects of a bucket: small ones at once, larger ones in parts that count only when all are there."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from talaria.artifacts.s3.address import Address
from talaria.core.errors import NotFound, Overloaded
from talaria.ports.artifacts import IsKnown

if TYPE_CHECKING:  # these types are not there at run time
    from obstore import GetOptions
    from obstore.store import ClientConfig, S3Config

PART = 8 * 1024 * 1024
"""Bytes of a part. S3 takes 10,000 of them."""
AT_ONCE = 2
"""Parts of one put that are in memory, on their way."""
PIECE = 256 * 1024
QUIET = timedelta(seconds=30)
"""How long a request may take, and while something is read, the next piece of it."""
PATIENCE = timedelta(seconds=20)
"""How long a request that failed is tried again."""


class Bucket:
    """Objects in a folder of a bucket. Credentials: AWS's variables in the environment, or the machine's role.

    Parts that a killed process has left are the bucket's to remove: a rule for incomplete uploads does.
    """

    def __init__(self, address: Address, folder: str) -> None:
        self._name = address.bucket
        self._store = _open(address, folder, {"timeout": QUIET})
        self._for_reading = _open(address, folder, {"timeout": timedelta(days=1), "read_timeout": QUIET})  # at will

    async def put(self, key: str, data: AsyncIterator[bytes]) -> None:
        """See Bytes."""
        feed = _Feed(data)
        putting = asyncio.ensure_future(
            obstore.put_async(self._store, key, feed, use_multipart=True, chunk_size=PART, max_concurrency=AT_ONCE)
        )
        try:
            with self._told():
                await asyncio.shield(putting)
        except asyncio.CancelledError:
            feed.stop()  # this side must end the upload itself: what is merely dropped leaves its parts
            await asyncio.wait([putting])
            putting.exception()
            raise
        finally:
            feed.raise_its_own()

    async def read(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes]:
        """See Bytes."""
        if end is not None and end <= start:
            return
        with self._told():
            asked = _range(start, end)
            found = await obstore.get_async(self._for_reading, key, options=asked)
            async for piece in found.stream(min_chunk_size=PIECE):
                yield bytes(piece)

    async def delete(self, key: str) -> None:
        """See Bytes."""
        with self._told():
            await obstore.delete_async(self._store, key)

    async def sweep(self, age: float, is_known: IsKnown) -> int:
        """See Bytes."""
        until, gone = datetime.now(UTC) - timedelta(seconds=age), 0
        with self._told():
            async for found in self._store.list():  # pyright: ignore[reportUnknownMemberType]
                for each in found:
                    if each["last_modified"] <= until and not await is_known(each["path"]):
                        await obstore.delete_async(self._store, each["path"])
                        gone += 1
        return gone

    async def check(self) -> None:
        """See Bytes."""
        with self._told():
            async for _ in self._store.list(chunk_size=1):  # pyright: ignore[reportUnknownMemberType]
                return

    async def close(self) -> None:
        """See Bytes."""

    @contextmanager
    def _told(self) -> Generator[None]:
        """What goes wrong with the bucket is told in our own terms."""
        try:
            yield
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise self._failed(error) from error
            raise NotFound("the bytes of this file are gone") from error
        except (BaseError, OSError) as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> Overloaded:
        message = f"artifacts: the bucket '{self._name}' cannot be used now"
        return Overloaded(message, retry_after=30, operator=str(error))


def _open(address: Address, folder: str, times: "ClientConfig") -> S3Store:
    place: S3Config = {"virtual_hosted_style_request": not address.endpoint}
    if address.endpoint:
        place["endpoint"] = address.endpoint
    if address.region:
        place["region"] = address.region
    return S3Store(
        address.bucket,
        prefix=f"{address.prefix}{folder}",
        config=place,
        client_options={"allow_http": address.endpoint.startswith("http://"), **times},
        retry_config={"max_retries": 2, "retry_timeout": PATIENCE},
    )


def _range(start: int, end: int | None) -> "GetOptions":
    if end is not None:
        return {"range": (start, end)}
    return {"range": {"offset": start}} if start else {}


class _Stopped(Exception):
    """Whoever was to get the bytes has gone."""


class _Feed:
    """Bytes for the library, which asks for them in tasks of its own."""

    def __init__(self, data: AsyncIterator[bytes]) -> None:
        self._data = data
        self._asking: asyncio.Future[bytes | None] | None = None
        self._is_stopped = False
        self._error: BaseException | None = None

    def __aiter__(self) -> "_Feed":
        return self

    async def __anext__(self) -> bytes:
        if self._is_stopped:
            raise _Stopped
        self._asking = asyncio.ensure_future(anext(self._data, None))
        try:
            piece = await self._asking
        except asyncio.CancelledError:
            raise _Stopped from None
        except Exception as error:
            self._error = error
            raise
        if piece is None:
            raise StopAsyncIteration
        return piece

    def stop(self) -> None:
        """Give no more: the upload ends as failed."""
        self._is_stopped = True
        if self._asking is not None:
            self._asking.cancel()

    def raise_its_own(self) -> None:
        """Raise what the data has raised, as it was."""
        if self._error is not None:
            raise self._error
