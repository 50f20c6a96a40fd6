"""Files that tools hand to the user: kept, told, replayed, and gone with their session."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from talaria import ToolContext, tool
from talaria.core.errors import Conflict, Overloaded
from talaria.journal.entries import ArtifactSaved
from talaria.runtime.artifacts import open_bytes
from talaria.testing.bytes_contract import pieces
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.world import ME, SESSION, end_of, world


@tool(side_effects=False)
async def export(ctx: ToolContext, name: str, size: int = 3) -> str:
    """Hand the user a file."""

    async def data() -> AsyncIterator[bytes]:
        for _ in range(size):
            yield b"x"

    return f"saved as {(await ctx.save_file(name, data())).name}"


async def test_the_client_is_told_of_a_file_now_and_in_a_replay(tmp_path: Path, store: str) -> None:
    model = ScriptedModel(Call("export", {"name": "图.txt"}), Say("There."))
    async with world(model, tools=[export], store=store, artifacts={"url": f"file:{tmp_path}/kept"}) as here:
        run_id = await here.send()
        events = await here.events(run_id)
        (event,) = [each for each in events if each.type == "artifact"]
        assert (event.name, event.mime_type, event.size) == ("图.txt", "text/plain", 3)
        assert event.url == f"/ai-api/download/{event.data}"
        await here.idle()
        assert await here.events(run_id) == events
        file = await here.parts.files.find(ME, str(event.data))
        assert await here.parts.files.whole(file, 10) == b"xxx"
        assert await here.runtime.parts.files.find(ME, file.id) == file
        await here.parts.deletion.delete(ME, SESSION)
        assert list((tmp_path / "kept").rglob("art_*")) == []


async def test_a_file_that_is_too_large_is_told_to_the_model(tmp_path: Path) -> None:
    model = ScriptedModel(Call("export", {"name": "a", "size": 11}), Say("Too large."))
    async with world(model, tools=[export], artifacts={"url": f"file:{tmp_path}/kept", "maxBytes": 10}) as here:
        events = await here.events(await here.send())
        (result,) = [each for event in events for each in event.tool_results or ()]
        assert "10 bytes (artifacts.maxBytes)" in result.result
        assert [each for each in events if each.type == "artifact"] == []
        assert list((tmp_path / "kept").rglob("art_*")) == []


async def test_a_secret_in_a_name_is_masked(tmp_path: Path) -> None:
    model = ScriptedModel(Call("export", {"name": "of s3cret-value.txt"}), Say("There."))
    async with world(model, tools=[export], artifacts={"url": f"file:{tmp_path}/kept"}) as here:
        await here.events(await here.send(tool_context={"apiKey": "s3cret-value"}))
        (entry,) = [each for each in await here.entries() if isinstance(each, ArtifactSaved)]
        assert "s3cret-value" not in entry.name


async def test_a_call_that_is_cancelled_leaves_no_file(tmp_path: Path) -> None:
    began = asyncio.Event()

    @tool(side_effects=False)
    async def slow(ctx: ToolContext) -> str:
        """Hand over a file that never ends."""

        async def data() -> AsyncIterator[bytes]:
            yield b"x" * 1_000_000
            began.set()
            await asyncio.Event().wait()

        return (await ctx.save_file("a", data())).name

    async with world(ScriptedModel(Call("slow")), tools=[slow], artifacts={"url": f"file:{tmp_path}/kept"}) as here:
        run_id = await here.send()
        async with asyncio.timeout(10):
            await began.wait()
        await here.cancel(run_id)
        assert end_of(await here.events(run_id)) == ("finish", "cancelled")
        await here.idle()
        assert [path for path in (tmp_path / "kept").rglob("art_*") if path.is_file()] == []


async def test_a_program_keeps_files_too(tmp_path: Path) -> None:
    async with world(artifacts={"url": f"file:{tmp_path}/kept"}) as here:
        saved = await here.parts.files.save(ME, "a.txt", b"abc")
        assert await here.parts.files.whole(saved, 2) == b"ab"


async def test_outside_a_run_nothing_is_kept() -> None:
    with pytest.raises(Conflict, match="no call of a run"):
        await ToolContext().save_file("a.txt", b"a")


async def test_bytes_that_no_row_knows_are_swept_and_others_stay(tmp_path: Path) -> None:
    clock = FakeClock()
    url = f"file:{tmp_path}/kept"
    async with world(clock=clock, artifacts={"url": url}) as here:
        saved = await here.parts.files.save(ME, "a.txt", b"a")
        (folder,) = (tmp_path / "kept").iterdir()
        kept = open_bytes(url, folder.name)
        await kept.put("art_lost", pieces(b"b"))
        assert await kept.sweep(-60, here.parts.files.is_known) == 1
        assert await here.parts.files.whole(saved, 1) == b"a"


async def test_an_expired_file_whose_bytes_cannot_be_removed_now_is_tried_again(tmp_path: Path) -> None:
    async with world(artifacts={"url": f"file:{tmp_path}/kept", "ttl": 10}) as here:
        saved = await here.parts.files.save(ME, "a.txt", b"a")
        (file,) = (tmp_path / "kept").rglob(saved.id)
        file.unlink()
        file.mkdir()
        here.clock.move(10)
        with pytest.raises(Overloaded):
            await here.parts.files.sweep()
        file.rmdir()
        await here.parts.files.sweep()
        assert await here.store.index.get("artifact", saved.id) is None
