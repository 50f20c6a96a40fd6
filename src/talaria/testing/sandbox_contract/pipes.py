"""Connections to what listens inside; and the end of a sandbox."""

# ruff: noqa: D102 - the names of tests are their docstrings

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from talaria.core.errors import NotFound, SandboxLost
from talaria.ports.sandbox import Command, Pipe, Sandbox
from talaria.testing.sandbox_contract.opening import SECONDS, Opening, appears, shell

_SERVER = """
import socket, sys, threading
def serve(client):
    with client:
        what = client.recv(1)
        try:
            while what == b"e" and (data := client.recv(65536)): client.sendall(data)
            while what == b"f": client.sendall(b"x" * 65536)
            while what == b"s" and client.recv(65536): pass
            if what == b"s": open("ended", "w").close()
        except OSError: pass
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
listener = socket.create_server((sys.argv[1], int(sys.argv[2])), family=family)
print("listening", flush=True)
while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""


def free_port() -> int:
    """Return a port on which nobody listens here, for sandboxes that share the network of the tests."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@asynccontextmanager
async def server(sandbox: Sandbox, address: str = "127.0.0.1") -> AsyncGenerator[int]:
    """Run a server inside: after "e" it echoes, after "f" it floods, after "s" it is silent. Gives its port."""
    port = free_port()
    up = asyncio.Event()
    command = Command(argv=["python3", "-c", _SERVER, address, str(port)])
    running = asyncio.create_task(sandbox.exec(command, lambda _: up.set()))
    try:
        async with asyncio.timeout(SECONDS):
            await up.wait()
        yield port
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def receive(pipe: Pipe, count: int) -> bytes:
    """Read so many bytes, or to the end."""
    data = b""
    async with asyncio.timeout(SECONDS):
        while len(data) < count and (part := await pipe.read()):
            data += part
    return data


async def _write_on(pipe: Pipe) -> None:
    async with asyncio.timeout(SECONDS):
        while True:
            await pipe.write(b"more")
            await asyncio.sleep(0.01)


class PipeContract(Opening):
    """Dialling, flow, closing."""

    @pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", "::1"])  # noqa: S104 - within the sandbox
    async def test_what_listens_inside_can_be_dialled(self, sandbox: Sandbox, address: str) -> None:
        async with server(sandbox, address) as port:
            pipe = await sandbox.dial(port)
            await pipe.write(b"ehello")
            assert await receive(pipe, 5) == b"hello"
            await pipe.close()
            await pipe.close()

    async def test_where_nothing_listens_nothing_is_found(self, sandbox: Sandbox) -> None:
        for port in (free_port(), 0, -1, 65536, 10**9):
            with pytest.raises(NotFound):
                await sandbox.dial(port)

    async def test_much_goes_both_ways_and_arrives_whole(self, sandbox: Sandbox) -> None:
        data = bytes(range(256)) * 8_000
        async with server(sandbox) as port:
            pipe = await sandbox.dial(port)
            received, _ = await asyncio.gather(receive(pipe, len(data)), pipe.write(b"e" + data))
            await pipe.close()
        assert received == data

    async def test_who_reads_slowly_holds_up_only_itself(self, sandbox: Sandbox) -> None:
        async with server(sandbox) as port:
            slow = await sandbox.dial(port)
            await slow.write(b"f")
            other = await sandbox.dial(port)
            await other.write(b"equick")
            assert await receive(other, 5) == b"quick"
            assert (await shell(sandbox, "echo well")).head == b"well\n"
            assert len(await receive(slow, 3_000_000)) >= 3_000_000
            await other.close()
            await slow.close()

    async def test_the_other_side_sees_the_end(self, sandbox: Sandbox) -> None:
        async with server(sandbox) as port:
            pipe = await sandbox.dial(port)
            await pipe.write(b"s")
            await pipe.close()
            await appears(sandbox, "ended")

    async def test_a_connection_whose_server_is_gone_ends(self, sandbox: Sandbox) -> None:
        async with server(sandbox) as port:
            pipe = await sandbox.dial(port)
            await pipe.write(b"s")
        assert await receive(pipe, 1) == b""
        with pytest.raises(SandboxLost):
            await _write_on(pipe)
        await pipe.close()

    async def test_many_connections_stand_at_once(self, sandbox: Sandbox) -> None:
        async with server(sandbox) as port:
            pipes = await asyncio.gather(*(sandbox.dial(port) for _ in range(20)))
            for number, pipe in enumerate(pipes):
                await pipe.write(b"e%d" % number)
            assert [await receive(pipe, len(str(n))) for n, pipe in enumerate(pipes)] == [b"%d" % n for n in range(20)]
            for pipe in pipes:
                await pipe.close()

    async def test_after_closing_everything_says_that_the_sandbox_is_gone(self, sandbox: Sandbox) -> None:
        began = asyncio.Event()
        command = Command(argv=["bash", "-c", "echo on; sleep 300"])
        running = asyncio.create_task(sandbox.exec(command, lambda _: began.set()))
        async with asyncio.timeout(SECONDS):
            await began.wait()
            await sandbox.close()
            await sandbox.close()
            uses = (
                running,
                sandbox.exec(command),
                sandbox.read("file"),
                sandbox.write("file", b""),
                sandbox.list(),
                sandbox.dial(80),
            )
            ended = await asyncio.gather(*uses, return_exceptions=True)
        assert [type(each) for each in ended] == [SandboxLost] * len(uses)

    async def test_the_workspace_outlives_its_sandbox(self, tmp_path: Path) -> None:
        async with self.open_sandbox(tmp_path) as first:
            await first.write("folder/kept", b"still here")
            await shell(first, "chmod 700 folder; echo by a command > made")
        async with self.open_sandbox(tmp_path) as second:
            assert await second.read("folder/kept") == b"still here"
            assert await second.read("made") == b"by a command\n"
            await second.write("made", b"replaced")
            assert (await shell(second, "cat made; rm -r made folder")).head == b"replaced"
