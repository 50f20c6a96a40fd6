"""Sandboxes of a runtime: real ones, by bubblewrap, from a turn's tools to what is left in the end."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from talaria import ToolContext, tool
from talaria.core.ids import SessionKey
from talaria.ports.sandbox import Command
from talaria.sandbox.starting import ANEW
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.world import ME, SESSION, World, told, world

pytestmark = pytest.mark.service("bwrap")
MINE = SessionKey("default", "anonymous", "-", SESSION)


@tool
async def shell(command: str, ctx: ToolContext) -> str:
    """Run a command."""
    assert ctx.sandbox is not None
    exited = await ctx.sandbox.exec(Command(argv=["sh", "-c", command], timeout=20))
    return f"{exited.head.decode().strip()} {exited.exit_code} {exited.note}".strip()


def calls(*commands: str) -> ScriptedModel:
    """A model that calls the tool once in each turn."""
    return ScriptedModel(*(step for each in commands for step in (Call("shell", {"command": each}), Say("Done"))))


@asynccontextmanager
async def a_world(folder: Path, *commands: str, **config: Any) -> AsyncGenerator[World]:
    sandbox = {"kind": "bubblewrap", "state": str(folder), "memory": "128m"} | config.pop("sandbox", {})
    async with world(calls(*commands), tools=[shell], sandbox=sandbox, **config) as here:
        yield here


async def results(here: World, session: str = SESSION, **fields: Any) -> list[str]:
    """Send a turn; return what its tools said."""
    events = await here.ask(session_id=session, **fields)
    return [each.result for event in events for each in event.tool_results or ()]


async def test_a_conversation_keeps_its_workspace_over_turns_and_restarts(open_folder: Path, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/talaria.db"
    async with a_world(open_folder, "echo mine >a.txt; echo $API_KEY", "cat a.txt; pwd", store=store) as here:
        assert await results(here, tool_context={"apiKey": "12345"}) == ["12345 0"]
        assert await results(here) == ["mine\n/workspace 0"]
        assert here.parts.sandboxes.kind == "bubblewrap"
        assert here.parts.sandboxes.running == 1
    async with a_world(open_folder, "cat a.txt; echo $API_KEY", store=store) as here:
        assert await results(here) == [f"mine 0 {ANEW}"]


async def test_another_session_sees_nothing_of_it(open_folder: Path) -> None:
    async with a_world(open_folder, "echo mine >a.txt; echo mine >/tmp/a.txt", "ls -A . /tmp") as here:
        await results(here, "one")
        assert await results(here, "two") == [".:\n\n/tmp: 0"]


async def test_a_deleted_session_leaves_neither_sandbox_nor_workspace(open_folder: Path) -> None:
    async with a_world(open_folder, "echo mine >a.txt", "ls") as here:
        await results(here)
        assert list((open_folder / "bubblewrap" / "sandboxes").rglob("a.txt"))
        await here.parts.deletion.delete(ME, SESSION)
        assert here.parts.sandboxes.running == 0
        assert not list((open_folder / "bubblewrap" / "sandboxes").rglob("a.txt"))
        assert await results(here) == ["0"]


async def test_an_expired_session_begins_with_nothing_in_its_workspace(open_folder: Path) -> None:
    clock = FakeClock()
    async with a_world(open_folder, "echo mine >a.txt", "ls", clock=clock, sessions={"idleTtl": 100}) as here:
        await results(here)
        clock.move(100)
        assert await results(here) == ["0"]


async def test_a_killed_sandbox_is_replaced_and_the_model_is_told(open_folder: Path) -> None:
    async with a_world(open_folder, "echo mine >a.txt", "cat a.txt") as here:
        await results(here)
        async with here.parts.sandboxes.hold(MINE) as sandbox:
            await sandbox.close()
        assert await results(here) == [f"mine 0 {ANEW}"]


async def test_fifty_sessions_at_once(open_folder: Path) -> None:
    async with a_world(open_folder, sandbox={"max": 50}) as here:

        async def work(n: int) -> bytes:
            door = here.parts.sandboxes.door(SessionKey("default", "anonymous", "-", f"s{n}"))
            assert door is not None
            script = f"echo {n} >>n; sleep 0.2; cat n"
            return (await door.exec(Command(argv=["sh", "-c", script]))).head

        assert await asyncio.gather(*map(work, range(50))) == [b"%d\n" % n for n in range(50)]
        assert here.parts.sandboxes.running == 50


async def test_parallel_calls_of_one_session_share_its_sandbox(open_folder: Path) -> None:
    async with a_world(open_folder) as here:
        door = here.parts.sandboxes.door(MINE)
        assert door is not None

        async def work(n: int) -> bytes:
            await door.write(f"f{n}", str(n).encode())
            exited = await door.exec(Command(argv=["sh", "-c", f"cat f{n}; echo >>all"]))
            assert await door.read(f"f{n}") == str(n).encode()
            return exited.head

        assert await asyncio.gather(*(work(n) for n in range(60))) == [str(n).encode() for n in range(60)]
        assert len(await door.read("all")) == 60
        assert here.parts.sandboxes.running == 1


async def test_where_none_can_be_had_the_model_is_told_why_and_the_chat_goes_on(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no folder")
    async with a_world(tmp_path / "state", "echo") as here:
        events = await here.ask()
        assert any("sandbox.state: cannot write to" in line for line in told(events))
        assert events[-1].type == "finish"
        assert here.parts.sandboxes.refusal
        assert here.parts.sandboxes.door(MINE) is None


async def test_without_a_place_to_last_nothing_is_left(monkeypatch: pytest.MonkeyPatch, open_folder: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(open_folder))
    model = calls("echo mine >a.txt")
    async with world(model, tools=[shell], sandbox={"kind": "bubblewrap"}) as here:
        await results(here)
        assert await asyncio.to_thread(lambda: list(open_folder.rglob("a.txt")))
    left = await asyncio.to_thread(lambda: [path for path in open_folder.rglob("*") if not path.is_dir()])
    assert left == []


async def test_one_that_a_preview_holds_is_only_one_that_runs(open_folder: Path) -> None:
    async with a_world(open_folder, "true") as here:
        with pytest.raises(Exception, match="has no sandbox now"):
            async with here.parts.sandboxes.hold(MINE):
                pass
        await results(here)
        async with here.parts.sandboxes.hold(MINE) as sandbox:
            assert (await sandbox.exec(Command(argv=["true"]))).exit_code == 0
