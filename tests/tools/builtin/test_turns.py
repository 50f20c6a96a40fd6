"""Turns in which a model uses the tools for code: a real runtime, real sandboxes by bubblewrap."""

import re
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from talaria import tool
from talaria.core.messages import ToolMessage
from talaria.journal.entries import ApprovalRequested
from talaria.ports.model import ModelRequest
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.world import SESSION, World, world

pytestmark = pytest.mark.service("bwrap")
DRAW = """python3 - <<'E'
import struct, zlib
def chunk(kind, body): return struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))
rows = (b'\\0' + b'\\xff\\0\\0' * 4) * 4
head = chunk(b'IHDR', struct.pack('>IIBBBBB', 4, 4, 8, 2, 0, 0, 0))
body = chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b'')
open('chart.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + head + body)
E"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that other users may enter; pytest's own may not be."""
    path = Path(tempfile.mkdtemp(prefix="talaria-turns-"))
    path.chmod(0o711)
    yield path
    shutil.rmtree(path)


@asynccontextmanager
async def a_world(
    folder: Path, *steps: Call | Say, model: ScriptedModel | None = None, **config: Any
) -> AsyncGenerator[World]:
    sandbox = {"kind": "bubblewrap", "state": str(folder), "memory": "256m"} | config.pop("sandbox", {})
    files = {"url": f"file:{folder}/artifacts"}
    async with world(model or ScriptedModel(*steps), sandbox=sandbox, artifacts=files, **config) as here:
        yield here


def results(events: list[Any]) -> list[str]:
    return [each.result for event in events for each in event.tool_results or ()]


NOBODY: dict[str, list[str]] = {"requiredTools": []}


async def test_what_changes_files_or_runs_code_is_asked_for(folder: Path) -> None:
    async with a_world(
        folder,
        Call("Glob", {"pattern": "*"}),
        Call("Write", {"file_path": "a", "content": "x"}),
        Call("Edit", {"file_path": "a", "old_string": "x", "new_string": "y"}),
        Call("Bash", {"command": "cat a"}),
        Say("Done"),
    ) as here:
        run_id = await here.send()
        async for event in here.follow(run_id):
            if event.type == "approval_request":
                await here.decide(str(event.data))
        asked = [each.name for each in await here.entries() if isinstance(each, ApprovalRequested)]
        assert asked == ["Write", "Edit", "Bash"]
        told = results(await here.events(run_id))
        assert told[0] == "[no file fits]"
        assert told[-1].startswith("y\n")


async def test_a_picture_that_was_drawn_is_seen_and_handed_over(folder: Path) -> None:
    model = ScriptedModel(
        Call("Bash", {"command": DRAW}),
        Call("Read", {"file_path": "chart.png"}),
        Call("ExportArtifact", {"file_path": "chart.png", "name": "图表.png"}),
        Say("Here it is."),
    )
    async with a_world(folder, model=model, approval=NOBODY) as here:
        events = await here.ask()
        assert events[-1].type == "finish"
        (artifact,) = [event for event in events if event.type == "artifact"]
        assert artifact.name == "图表.png"
        seen = model.requests[-1].prompt.messages
        pictures = [image for message in seen if isinstance(message, ToolMessage) for image in message.images]
        assert [image.media_type for image in pictures] == ["image/png"]
        assert "as artifact art" in results(events)[-1]


def started(request: ModelRequest) -> str:
    """The id of the command that was started in the background."""
    said = "".join(each.text for each in request.prompt.messages if isinstance(each, ToolMessage))
    found = re.search(r"bash_\w+", said)
    assert found is not None
    return found[0]


async def test_a_server_started_in_one_turn_is_found_in_the_next_one(folder: Path) -> None:
    server = Call(
        "Bash", {"command": "echo tick; touch ticked; while true; do sleep 0.1; done", "run_in_background": True}
    )
    steps: list[Callable[[ModelRequest], Call | Say]] = [
        lambda request: server,
        lambda request: Say("Started."),
        lambda request: Call("Bash", {"command": "until test -e ticked; do sleep 0.1; done"}),
        lambda request: Call("BashOutput", {"id": started(request)}),
        lambda request: Call("KillBash", {"id": started(request)}),
        lambda request: Say("Ended."),
    ]
    model = ScriptedModel(
        script=lambda request: steps.pop(0)(request)  # noqa: PLW0108 - the first of those that are left then
    )
    async with a_world(folder, model=model, approval=NOBODY) as here:
        await here.ask()
        _, told, ended = results(await here.ask())
        assert "tick\n" in told + ended
        assert ": running]" in told
        assert "ended by KillBash" in ended
        assert not steps


async def test_output_is_streamed_while_a_command_runs(folder: Path) -> None:
    step = Call("Bash", {"command": "echo first; sleep 0.5; echo last"})
    async with a_world(folder, step, Say("Done"), approval=NOBODY) as here:
        events = await here.ask()
        kinds = [event.type for event in events if event.type in ("tool_output", "tool_result")]
        assert kinds[0] == "tool_output"
        assert kinds[-1] == "tool_result"


async def test_without_sandboxes_there_are_no_such_tools(folder: Path) -> None:
    model = ScriptedModel(Say("Hello"))
    async with a_world(folder, model=model, sandbox={"kind": "none"}) as here:
        await here.ask()
        assert model.requests[0].prompt.tools == ()


async def test_a_tool_of_ones_own_stands_before_a_built_in_one_of_its_name(folder: Path) -> None:
    @tool
    def read(page: int) -> str:
        """Read a page of the book."""
        return f"page {page}"

    model = ScriptedModel(Call("read", {"page": 3}), Say("Read"))
    async with a_world(folder, model=model, tools=[read]) as here:
        assert results(await here.ask(session_id=SESSION)) == ["page 3"]
        names = [spec.name for spec in model.requests[0].prompt.tools]
        assert "read" in names
        assert "Write" in names
        assert "Read" not in names


async def test_commands_that_reach_the_net_act_outside_and_bring_content_from_outside(folder: Path) -> None:
    async with a_world(folder, sandbox={"network": "egress", "egress": ["example.com"]}) as here:
        tools = {each.name: each for each in here.parts.kit.catalog.registry.tools}
        assert tools["Bash"].acts_outside
        assert tools["Bash"].untrusted
        assert tools["Read"].untrusted
        assert not tools["Write"].acts_outside
    async with a_world(folder) as here:
        tools = {each.name: each for each in here.parts.kit.catalog.registry.tools}
        assert not any(tools[name].acts_outside or tools[name].untrusted for name in ("Bash", "Read", "Grep", "Edit"))
