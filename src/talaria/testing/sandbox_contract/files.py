"""Reading, writing and listing files."""

# ruff: noqa: D102 - the names of tests are their docstrings

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from talaria.core.errors import InvalidRequest, NotFound
from talaria.ports.sandbox import Sandbox
from talaria.testing.sandbox_contract.opening import SECONDS, Opening, appears, python, shell

_MIB = 1024 * 1024
_NAMES = {
    "unicode": "世界 😀.txt",
    "a new line": "a\nb\tc",
    "quotes": "'\"$(id)`\\",
    "an option": "-rf",
    "a space": " ",
    "a combining accent": "e\u0301",
    "long": "x" * 255,
    "percent": "%2e",
}


async def parts(*data: bytes, then: asyncio.Event | None = None) -> AsyncIterator[bytes]:
    """Give the parts, then wait for ever, if there is something to set."""
    for each in data:
        yield each
    if then is not None:
        then.set()
        await asyncio.Event().wait()


async def breaking(data: bytes) -> AsyncIterator[bytes]:
    """Give one part, then fail."""
    yield data
    raise LookupError


class FileContract(Opening):
    """What is written is read; a file changes as a whole or not at all."""

    @pytest.mark.parametrize("data", [b"", b"text\n", bytes(range(256)) * 20_000], ids=["none", "little", "much"])
    async def test_what_is_written_is_read(self, sandbox: Sandbox, data: bytes) -> None:
        await sandbox.write("file", data)
        assert await sandbox.read("file") == data
        assert (await shell(sandbox, "wc -c < file")).head.strip() == b"%d" % len(data)

    async def test_a_file_is_written_from_a_stream(self, sandbox: Sandbox) -> None:
        await sandbox.write("file", parts(b"a" * 300_000, b"", b"b"))
        assert await sandbox.read("file") == b"a" * 300_000 + b"b"

    async def test_folders_on_the_way_are_made(self, sandbox: Sandbox) -> None:
        await sandbox.write("/workspace/a/b/c.txt", b"c")
        assert [file.path for file in await sandbox.list(depth=9)] == ["a", "a/b", "a/b/c.txt"]

    async def test_a_file_is_replaced_as_a_whole_and_keeps_its_mode(self, sandbox: Sandbox) -> None:
        await shell(sandbox, "echo a long old text > file; chmod 751 file")
        await sandbox.write("file", b"new")
        assert (await shell(sandbox, "cat file; stat -c %a file")).head == b"new751\n"

    async def test_who_has_a_file_open_sees_the_old_one_whole(self, sandbox: Sandbox) -> None:
        await sandbox.write("file", b"old\n")
        script = "exec 3< file; touch open; until [ -e written ]; do sleep 0.02; done; cat <&3 file"
        reader = asyncio.create_task(shell(sandbox, script))
        async with asyncio.timeout(SECONDS):
            await appears(sandbox, "open")
            await sandbox.write("file", b"new\n")
            await sandbox.write("written", b"")
            assert (await reader).head == b"new\n"
        assert await sandbox.read("file") == b"new\n"

    async def test_writing_that_is_cancelled_changes_nothing(self, sandbox: Sandbox) -> None:
        await sandbox.write("file", b"old")
        for path in ("file", "other"):
            sent = asyncio.Event()
            writing = asyncio.create_task(sandbox.write(path, parts(b"n" * 200_000, then=sent)))
            async with asyncio.timeout(SECONDS):
                await sent.wait()
                writing.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await writing
        assert await sandbox.read("file") == b"old"
        assert (await shell(sandbox, "ls -A")).head == b"file\n"

    async def test_writing_whose_source_fails_changes_nothing(self, sandbox: Sandbox) -> None:
        await sandbox.write("file", b"old")
        with pytest.raises(LookupError):
            await sandbox.write("file", breaking(b"new"))
        assert await sandbox.read("file") == b"old"
        assert (await shell(sandbox, "ls -A")).head == b"file\n"

    async def test_of_writers_at_once_one_is_last_and_whole(self, sandbox: Sandbox) -> None:
        texts = [bytes([65 + n]) * 100_000 for n in range(6)]
        await asyncio.gather(*(sandbox.write("file", text) for text in texts))
        assert await sandbox.read("file") in texts
        assert (await shell(sandbox, "ls -A")).head == b"file\n"

    async def test_a_part_of_a_file_is_read(self, sandbox: Sandbox) -> None:
        await sandbox.write("file", b"0123456789")
        for offset, limit, part in ((0, 4, b"0123"), (3, None, b"3456789"), (8, 9, b"89"), (99, 1, b""), (2, 0, b"")):
            assert await sandbox.read("file", offset, limit) == part

    async def test_at_most_16_mib_are_read_at_once(self, sandbox: Sandbox) -> None:
        await shell(sandbox, "truncate -s 20M file; printf end >> file")
        assert await sandbox.read("file") == await sandbox.read("file", 0, 99 * _MIB) == bytes(16 * _MIB)
        assert await sandbox.read("file", 20 * _MIB - 1) == b"\0end"

    async def test_what_is_not_there_is_not_found(self, sandbox: Sandbox) -> None:
        await sandbox.write("file", b"")
        for path in ("missing", "missing/file", "file/below", "/workspace/missing"):
            with pytest.raises(NotFound):
                await sandbox.read(path)
            with pytest.raises(NotFound):
                await sandbox.list(path)

    async def test_what_is_no_regular_file_is_neither_read_nor_written(self, sandbox: Sandbox) -> None:
        await python(sandbox, "import os, socket; os.mkdir('folder'); os.mkfifo('fifo'); "
                     "socket.socket(socket.AF_UNIX).bind('socket')")  # fmt: skip
        async with asyncio.timeout(SECONDS):
            for path in ("folder", "fifo", "socket", "", ".", "/workspace"):
                with pytest.raises(InvalidRequest):
                    await sandbox.read(path)
                with pytest.raises(InvalidRequest):
                    await sandbox.write(path, b"no")
        assert {file.path: file.kind for file in await sandbox.list()} == {
            "folder": "folder",
            "fifo": "other",
            "socket": "other",
        }

    async def test_a_list_says_what_there_is(self, sandbox: Sandbox) -> None:
        await shell(sandbox, "mkdir b; printf 12345 > b/five; ln -s /etc a; ln -s b d; touch -d @1700000000 c")
        now = time.time() * 1000
        found = await sandbox.list(depth=5)
        assert [(file.path, file.kind) for file in found] == [
            ("a", "link"),
            ("b", "folder"),
            ("b/five", "file"),
            ("c", "file"),
            ("d", "link"),
        ]
        assert found[2].size == 5
        assert abs(found[2].modified - now) < 3_600_000
        assert found[3].modified == 1_700_000_000_000

    async def test_a_list_is_as_deep_and_as_long_as_asked(self, sandbox: Sandbox) -> None:
        await shell(sandbox, "mkdir -p a/b/c; touch a/b/c/d {1..50}")
        assert [file.path for file in await sandbox.list("a")] == ["a/b"]
        assert [file.path for file in await sandbox.list("/workspace/a", depth=2)] == ["a/b", "a/b/c"]
        assert len(await sandbox.list(limit=7)) == 7
        assert await sandbox.list(limit=0) == []

    async def test_a_list_of_many_files_is_whole_and_sorted(self, sandbox: Sandbox) -> None:
        await python(sandbox, "import os\nfor n in range(3000): open(f'file-{n:05}', 'w').close()")
        assert [file.path for file in await sandbox.list()] == [f"file-{n:05}" for n in range(3000)]

    @pytest.mark.parametrize("name", _NAMES.values(), ids=_NAMES)
    async def test_a_name_may_be_anything(self, sandbox: Sandbox, name: str) -> None:
        await sandbox.write(f"folder/{name}", b"1")
        assert await sandbox.read(f"folder/{name}") == b"1"
        assert [file.path for file in await sandbox.list("folder")] == [f"folder/{name}"]
        seen = await python(sandbox, "import os, sys; sys.stdout.buffer.write(os.listdir(b'folder')[0])")
        assert seen.head == name.encode()

    async def test_a_name_that_is_no_text_can_be_listed_and_read(self, sandbox: Sandbox) -> None:
        await python(sandbox, "import os; os.close(os.open(b'bad-\\xff\\xfe', os.O_CREAT))")
        (file,) = await sandbox.list()
        assert await sandbox.read(file.path) == b""

    async def test_a_name_that_cannot_be_is_refused(self, sandbox: Sandbox) -> None:
        for path in ("x" * 256, "a\0b", "/".join(["x" * 200] * 30)):
            with pytest.raises(InvalidRequest):
                await sandbox.write(path, b"")
            with pytest.raises(InvalidRequest):
                await sandbox.read(path)

    async def test_folders_may_be_deep(self, sandbox: Sandbox) -> None:
        path = "/".join(["deep"] * 100)
        await sandbox.write(f"{path}/file", b"bottom")
        assert await sandbox.read(f"{path}/file") == b"bottom"
        assert len(await sandbox.list(depth=1000)) == 101
