"""Bytes as objects of a bucket: small ones at once, larger ones in parts that count only when all are there."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import structlog
from aiohttp import ClientError as BrokenConnection
from botocore.exceptions import BotoCoreError, ClientError

from talaria.artifacts.s3.client import Address, Client, connect
from talaria.core.errors import NotFound, Overloaded
from talaria.ports.artifacts import IsKnown

PART = 8 * 1024 * 1024
"""Bytes of a part: what one put holds in memory. S3 takes 10,000 parts of 5 MiB or more."""
PIECE = 256 * 1024
_GONE = frozenset(("NoSuchKey", "404", "NotFound"))
_log = structlog.get_logger("talaria.files")


class Bucket:
    """Objects below a prefix of a bucket."""

    def __init__(self, address: Address, folder: str) -> None:
        self._address = address
        self._prefix = f"{address.prefix}{folder}/"
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._client: Client | None = None

    async def put(self, key: str, data: AsyncIterator[bytes]) -> None:
        """See Bytes."""
        async with self._ready() as client:
            first, rest = await _part(data, bytearray())
            if len(first) < PART:
                await client.put_object(**self._at(key), Body=bytes(first))
            else:
                await self._put_parts(client, key, data, (first, rest))

    async def read(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes]:
        """See Bytes."""
        if end is not None and end <= start:
            return
        part = {"Range": f"bytes={start}-{'' if end is None else end - 1}"} if start or end is not None else {}
        async with self._ready() as client:
            body = (await client.get_object(**self._at(key), **part))["Body"]
            try:
                async for piece in body.iter_chunks(PIECE):
                    yield piece
            finally:
                body.close()

    async def delete(self, key: str) -> None:
        """See Bytes."""
        async with self._ready() as client:
            await client.delete_object(**self._at(key))

    async def sweep(self, age: float, is_known: IsKnown) -> int:
        """See Bytes."""
        until, gone = datetime.now(UTC) - timedelta(seconds=age), 0
        async with self._ready() as client:
            async for found in _pages(client.list_objects_v2, "Contents", self._listed()):
                key = str(found["Key"]).removeprefix(self._prefix)
                if found["LastModified"] <= until and not await is_known(key):
                    await client.delete_object(**self._at(key))
                    gone += 1
            listed = await client.list_multipart_uploads(**self._listed())
            for found in listed.get("Uploads") or ():
                if found["Initiated"] <= until:
                    await client.abort_multipart_upload(
                        Bucket=self._address.bucket, Key=found["Key"], UploadId=found["UploadId"]
                    )
                    gone += 1
        return gone

    async def check(self) -> None:
        """See Bytes."""
        async with self._ready() as client:
            await client.head_bucket(Bucket=self._address.bucket)

    async def close(self) -> None:
        """See Bytes."""
        self._client = None
        await self._stack.aclose()

    async def _put_parts(
        self, client: Client, key: str, data: AsyncIterator[bytes], begun: tuple[bytearray, bytearray]
    ) -> None:
        upload = (await client.create_multipart_upload(**self._at(key)))["UploadId"]
        where = {**self._at(key), "UploadId": upload}
        parts = list[dict[str, Any]]()
        try:
            part, rest = begun
            while part:
                number = len(parts) + 1
                done = await client.upload_part(**where, PartNumber=number, Body=bytes(part))
                parts.append({"PartNumber": number, "ETag": done["ETag"]})
                part, rest = await _part(data, rest)
            await client.complete_multipart_upload(**where, MultipartUpload={"Parts": parts})
        except BaseException:
            await asyncio.shield(self._abort(client, where))
            raise

    async def _abort(self, client: Client, where: dict[str, Any]) -> None:
        try:
            await client.abort_multipart_upload(**where)
        except (BotoCoreError, ClientError, BrokenConnection, OSError) as error:  # a sweep finds it
            _log.warning("upload_not_aborted", error=type(error).__name__)

    def _at(self, key: str) -> dict[str, Any]:
        return {"Bucket": self._address.bucket, "Key": f"{self._prefix}{key}"}

    def _listed(self) -> dict[str, Any]:
        return {"Bucket": self._address.bucket, "Prefix": self._prefix}

    @asynccontextmanager
    async def _ready(self) -> AsyncGenerator[Client]:
        """The client, made when it is first needed; what goes wrong with it is told in our own terms."""
        try:
            async with self._opening:
                if self._client is None:
                    self._client = await self._stack.enter_async_context(connect(self._address))
            yield self._client
        except ClientError as error:
            answer = cast("dict[str, dict[str, str]]", error.response)
            raise self._failed(error, answer.get("Error", {}).get("Code", "")) from error
        except (BotoCoreError, BrokenConnection, OSError) as error:
            raise self._failed(error, type(error).__name__) from error

    def _failed(self, error: Exception, code: str) -> NotFound | Overloaded:
        if code in _GONE:
            return NotFound("the bytes of this file are gone")
        message = f"artifacts: the bucket '{self._address.bucket}' cannot be used now ({code})"
        return Overloaded(message, retry_after=30, operator=str(error))


async def _part(data: AsyncIterator[bytes], begun: bytearray) -> tuple[bytearray, bytearray]:
    """The next PART bytes, fewer only at the end, and what came beyond them."""
    while len(begun) < PART:
        piece = await anext(data, None)
        if piece is None:
            return begun, bytearray()
        begun += piece
    return begun[:PART], begun[PART:]


async def _pages(call: Any, member: str, listed: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    more: dict[str, Any] = {}
    while True:
        page: dict[str, Any] = await call(**listed, **more)
        for each in page.get(member) or ():
            yield each
        if not page.get("IsTruncated"):
            return
        more = {"ContinuationToken": page["NextContinuationToken"]}
