"""Attachments come into the workspace before anything in the sandbox runs."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from talaria import Principal
from talaria.agents.placing import with_files
from talaria.artifacts.files import Files
from talaria.core.ids import SessionKey
from talaria.core.messages import AssistantMessage, File, Text, ToolCall, UserMessage
from talaria.journal.entries import ModelFinished, TurnStarted
from talaria.journal.fold import apply
from talaria.journal.state import SessionState
from talaria.ports.sandbox import WORKSPACE, Command, Exited, FileInfo, Pipe
from talaria.runtime.artifacts import open_bytes
from talaria.stores.memory.store import MemoryStore
from talaria.testing.clock import FakeClock

ME = Principal()


class Box:
    """A workspace in memory."""

    def __init__(self, **files: bytes) -> None:
        self.files = {name.replace("_", "."): data for name, data in files.items()}
        self.writes = 0

    async def exec(self, command: Command, output: Callable[[bytes], None] | None = None) -> Exited:
        return Exited(0, " ".join(sorted(self.files)).encode())

    async def read(self, path: str, offset: int = 0, limit: int | None = None) -> bytes:
        return self.files[path]

    async def write(self, path: str, data: AsyncIterator[bytes] | bytes) -> None:
        await asyncio.sleep(0)
        body = data if isinstance(data, bytes) else b"".join([piece async for piece in data])
        self.files[path.removeprefix(f"{WORKSPACE}/")] = body
        self.writes += 1

    async def list(self, path: str = "", *, depth: int = 1, limit: int = 10_000) -> list[FileInfo]:
        return [FileInfo(name, "file", len(data), 0) for name, data in self.files.items()]

    async def dial(self, port: int) -> Pipe:
        raise NotImplementedError

    async def close(self) -> None: ...


def files(folder: Path) -> Files:
    return Files(open_bytes(f"file:{folder}/kept", "dep"), MemoryStore().index, FakeClock(), 1000, None)


def state_of(*parts: File, called: bool = False) -> SessionState:
    state = SessionState(SessionKey("default", "anonymous", "-", "s"))
    message = UserMessage((Text("Look"), *parts))
    apply(state, TurnStarted(run="r", at=0, agent="a", model="m", message=message))
    if called:
        said = AssistantMessage((ToolCall("c", "Bash"),))
        apply(state, ModelFinished(run="r", at=1, round=1, epoch=1, attempt=1, message=said))
    return state


async def attached(kept: Files, name: str, data: bytes) -> File:
    saved = await kept.save(ME, name, data)
    return File(name, blob=saved.id, place=f"{WORKSPACE}/{name}")


async def test_files_are_there_when_the_first_command_runs_and_brought_once(tmp_path: Path) -> None:
    kept, box = files(tmp_path), Box()
    parts = [await attached(kept, name, name.encode()) for name in ("a.csv", "b.csv")]
    sandbox = with_files(box, kept, ME, state_of(*parts))
    assert sandbox is not None
    command = Command(argv=["ls"])
    both = await asyncio.gather(sandbox.exec(command), sandbox.exec(command), sandbox.read("a.csv"))
    assert [both[0].head, both[1].head, both[2]] == [b"a.csv b.csv", b"a.csv b.csv", b"a.csv"]
    await sandbox.write("a.csv", b"changed")
    assert await sandbox.read("a.csv") == b"changed"
    assert box.writes == 3


async def test_a_new_turn_brings_its_file_also_where_one_of_that_name_lies(tmp_path: Path) -> None:
    kept, box = files(tmp_path), Box(a_csv=b"old")
    sandbox = with_files(box, kept, ME, state_of(await attached(kept, "a.csv", b"new")))
    assert sandbox is not None
    assert await sandbox.read("a.csv") == b"new"


async def test_a_turn_that_goes_on_after_a_restart_brings_only_what_is_missing(tmp_path: Path) -> None:
    kept, box = files(tmp_path), Box(a_csv=b"edited by a tool")
    parts = [await attached(kept, name, b"new") for name in ("a.csv", "b.csv")]
    sandbox = with_files(box, kept, ME, state_of(*parts, called=True))
    assert sandbox is not None
    assert [await sandbox.read("a.csv"), await sandbox.read("b.csv")] == [b"edited by a tool", b"new"]


async def test_a_file_that_has_expired_keeps_nothing_else_back(tmp_path: Path) -> None:
    kept, box = files(tmp_path), Box()
    gone = File("a.csv", blob="art_0", place=f"{WORKSPACE}/a.csv")
    sandbox = with_files(box, kept, ME, state_of(gone, await attached(kept, "b.csv", b"b")))
    assert sandbox is not None
    assert (await sandbox.exec(Command(argv=["ls"]))).head == b"b.csv"


async def test_without_attachments_or_a_sandbox_there_is_nothing_to_bring(tmp_path: Path) -> None:
    kept, box = files(tmp_path), Box()
    assert with_files(box, kept, ME, state_of()) is box
    assert with_files(None, kept, ME, state_of(await attached(kept, "a.csv", b"a"))) is None
