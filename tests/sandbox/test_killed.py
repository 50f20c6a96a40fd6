"""Sandboxes outlive the process that started them when it is killed, and the next one takes them over."""

import signal
from pathlib import Path
from typing import Any

import pytest

from talaria.testing.steps import Step
from tests.cli.process import Process, ask, chat, opened, provider, talaria

pytestmark = pytest.mark.service("bwrap")
PLUGIN = '''
from talaria import ToolContext, tool
from talaria.ports.sandbox import Command


@tool
async def shell(command: str, ctx: ToolContext) -> str:
    """Run a command."""
    exited = await ctx.sandbox.exec(Command(argv=["sh", "-c", command]))
    return exited.head.decode() + exited.note
'''


def said(server: Process, query: str = "Go") -> str:
    """Send a turn; return its events."""
    with chat(server.url(), query=query, sessionId="s") as stream:
        return "\n".join(str(event) for _, event in stream.rest())


def test_a_sandbox_of_a_killed_server_is_the_next_ones(tmp_path: Path, open_folder: Path) -> None:
    (tmp_path / "plugin.py").write_text(PLUGIN)
    sandbox: dict[str, Any] = {"kind": "bubblewrap", "state": str(open_folder), "memory": "128m", "idle": 30}
    command = "cat a.txt /tmp/a.txt; echo kept >a.txt; echo here >/tmp/a.txt"
    steps = [Step(calls=(("shell", {"command": command}),)), Step(text="Done.")]
    with provider(tmp_path, steps) as models:
        config = models | {"plugins": ["plugin"], "sandbox": sandbox}
        with talaria(tmp_path, config) as server:
            said(server)
            assert "bubblewrap (as sandbox.kind says); at most 50" in server.errors
            server.signal(signal.SIGKILL)
            server.wait()
        with talaria(tmp_path, config) as server:
            events = said(server)
            assert "kept\\nhere" in events, events + server.errors
            metrics = ask(server.url(), "/metrics").body.decode()
            assert "talaria_sandboxes_running 1.0" in metrics
            assert 'talaria_sandbox_starts_total{how="found"} 1.0' in metrics
            server.signal(signal.SIGKILL)
            server.wait()
        with talaria(tmp_path, config) as server:
            with opened(server.url(), "DELETE", "/ai-api/sessions/s", None, {}) as gone:
                assert gone.status == 204
            server.signal()
            assert server.wait() == 0
    left = [path.name for path in open_folder.rglob("*") if path.is_file()]
    assert sorted(set(left)) == ["deployment", "lock"]
