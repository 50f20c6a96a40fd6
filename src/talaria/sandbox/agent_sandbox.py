"""A sandbox through its agent: the port, for every kind of sandbox."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Literal

from talaria.core.errors import InvalidRequest, NotFound, SandboxLost
from talaria.ports.sandbox import Command, Exited, FileInfo, Pipe
from talaria.sandbox import frames
from talaria.sandbox.channel import ChannelPipe
from talaria.sandbox.connection import Channel, Connection, gone
from talaria.sandbox.launcher import Link

READ_LIMIT = 16 * 1024 * 1024
_LIST_LIMIT = 32 * 1024 * 1024
_BYE_SECONDS = 5.0
_REASONS: dict[bytes, Literal["exited", "timeout", "disk", "memory"]] = {
    b"exited": "exited",
    b"timeout": "timeout",
    b"disk": "disk",
    b"memory": "memory",
}
_KINDS: dict[bytes, Literal["file", "folder", "link", "other"]] = {
    b"file": "file",
    b"folder": "folder",
    b"link": "link",
    b"other": "other",
}


class AgentSandbox:
    """The sandbox behind a link. `proxy` answers connections that commands make to their proxy."""

    def __init__(self, link: Link, proxy: Callable[[ChannelPipe], Awaitable[None]] | None = None) -> None:
        self._proxy = proxy
        self._serving: set[asyncio.Task[None]] = set()
        self._connection = Connection(link, self._serve if proxy else None)

    @property
    def lost(self) -> bool:
        """Whether it is gone."""
        return self._connection.lost is not None

    async def open(self) -> None:
        """Say hello to the agent; what ran for an earlier host ends.

        Raises:
            SandboxLost: it does not answer.
        """
        try:
            await self._connection.open()
        except BaseException:
            await self._connection.close()
            raise

    async def wait_lost(self) -> None:
        """Return when it is gone."""
        await self._connection.gone.wait()

    async def exec(self, command: Command, output: Callable[[bytes], None] | None = None) -> Exited:
        """Run a command."""
        channel = self._request(_exec_fields(command))
        feeding = asyncio.create_task(_feed(channel, command.stdin)) if command.stdin else None
        try:
            written = await self._output(channel, command, output)
            result = await self._result(channel)
        except NotFound as error:
            raise InvalidRequest(error.message) from None
        finally:
            await _given_up(channel)
            if feeding is not None:
                feeding.cancel()
                await asyncio.gather(feeding, return_exceptions=True)
        try:
            code, reason, dropped, tail = int(result[0]), _REASONS[result[1]], int(result[2]), int(result[3])
        except (ValueError, IndexError, KeyError) as error:
            raise await self._broken("an answer that says nothing") from error
        split = len(written) - min(max(tail, 0), len(written))
        return Exited(code & 0xFF, written[:split], written[split:], max(dropped, 0), reason)

    async def _output(self, channel: Channel, command: Command, output: Callable[[bytes], None] | None) -> bytes:
        written = bytearray()
        while data := await channel.read():
            if len(written) + len(data) > command.head + command.tail:
                raise await self._broken("more output than is kept")
            told = data[: max(command.head - len(written), 0)]
            written += data
            if output is not None and told:
                output(told)
        return bytes(written)

    async def read(self, path: str, offset: int = 0, limit: int | None = None) -> bytes:
        """Return bytes of a file."""
        limit = READ_LIMIT if limit is None else min(limit, READ_LIMIT)
        channel = self._request([b"read", _path(path), b"%d" % max(offset, 0), b"%d" % max(limit, 0)])
        return await self._whole(channel, limit)

    async def write(self, path: str, data: AsyncIterator[bytes] | bytes) -> None:
        """Replace a file."""
        channel = self._request([b"write", _path(path)])
        try:
            if isinstance(data, bytes):
                await channel.write(data)
            else:
                async for part in data:
                    await channel.write(part)
            channel.end()
            await self._result(channel)
        finally:
            await _given_up(channel)

    async def list(self, path: str = "", *, depth: int = 1, limit: int = 10_000) -> list[FileInfo]:
        """Return what is in a folder."""
        channel = self._request([b"list", _path(path), b"%d" % depth, b"%d" % max(limit, 0)])
        fields = (await self._whole(channel, _LIST_LIMIT)).split(b"\0")
        try:
            found = [_file(fields[at : at + 4]) for at in range(0, len(fields) - 1, 4)]
        except (ValueError, KeyError, IndexError) as error:
            raise await self._broken("a list that says nothing") from error
        return sorted(found[:limit], key=lambda file: file.path)

    async def dial(self, port: int) -> Pipe:
        """Connect to a port."""
        if not 0 < port < 65536:
            raise NotFound(f"There is no port {port}.")
        channel = self._request([b"dial", b"%d" % port])
        stands = False
        try:
            await channel.ready()
            if channel.result is not None:
                await self._result(channel)
                raise await self._broken("a connection that ended before it stood")
            stands = True
        finally:
            if not stands:
                await _given_up(channel)
        return ChannelPipe(channel)

    async def close(self) -> None:
        """End it and all that runs in it; the workspace stays."""
        self._connection.send(frames.BYE)
        try:
            async with asyncio.timeout(_BYE_SECONDS):
                await self._connection.gone.wait()
        except TimeoutError:
            pass
        await self.detach()

    async def detach(self) -> None:
        """Let go of it; it goes on until a host comes, or as long as it may without."""
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._connection.close()

    def _serve(self, channel: Channel) -> None:
        assert self._proxy is not None
        task = asyncio.create_task(self._proxied(channel))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _proxied(self, channel: Channel) -> None:
        pipe = ChannelPipe(channel)
        try:
            assert self._proxy is not None
            await self._proxy(pipe)
        except SandboxLost:
            return
        finally:
            await pipe.close()

    def _request(self, fields: Sequence[bytes]) -> Channel:
        if sum(map(len, fields)) + len(fields) > frames.REQUEST:
            raise InvalidRequest("The command is too long.")
        if any(b"\0" in field for field in fields):
            raise InvalidRequest("There is a NUL in what was asked for.")
        return self._connection.request(fields)

    async def _whole(self, channel: Channel, limit: int) -> bytes:
        whole = bytearray()
        try:
            while data := await channel.read():
                whole += data
                if len(whole) > limit:
                    raise await self._broken("more than was asked for")
            await self._result(channel)
        finally:
            await _given_up(channel)
        return bytes(whole)

    async def _result(self, channel: Channel) -> Sequence[bytes]:
        which, *result = await channel.done()
        if which == b"ok":
            return result
        words = os.fsdecode(result[-1])[:500] if result else ""
        words = words.encode("utf-8", "replace").decode()
        if result and result[0] == b"not_found":
            raise NotFound(words)
        raise InvalidRequest(words)

    async def _broken(self, why: str) -> SandboxLost:
        await self._connection.close()
        return gone(why)


def _exec_fields(command: Command) -> Sequence[bytes]:
    if not command.argv:
        raise InvalidRequest("There is no command.")
    environment = [os.fsencode(f"{name}={value}") for name, value in command.env.items()]
    return [
        b"exec",
        _path(command.cwd),
        b"" if command.timeout is None else b"%f" % max(command.timeout, 0.001),
        b"%d" % max(command.head, 0),
        b"%d" % max(command.tail, 0),
        b"stdin" if command.stdin else b"",
        b"%d" % len(environment),
        *environment,
        *map(os.fsencode, command.argv),
    ]


async def _feed(channel: Channel, data: bytes) -> None:
    await channel.write(data)
    channel.end()


async def _given_up(channel: Channel) -> None:
    """Close a channel that has not ended, and wait for it however often this is cancelled."""
    if channel.result is not None:
        return
    closing = asyncio.ensure_future(channel.close())
    while not closing.done():
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            continue
        except SandboxLost:
            return


def _path(path: str) -> bytes:
    return os.fsencode(path)


def _file(fields: list[bytes]) -> FileInfo:
    kind, size, modified, path = fields
    return FileInfo(os.fsdecode(path), _KINDS[kind], int(size), int(modified))
