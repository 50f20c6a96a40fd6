"""The tools at work in a real sandbox."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from talaria.artifacts.artifact import Artifact
from talaria.core.errors import TalariaError
from talaria.sandbox.agent_sandbox import AgentSandbox
from talaria.sandbox.bubblewrap import Bubblewrap
from talaria.sandbox.launcher import Launch, Size
from talaria.tools.builtin.background import Background
from talaria.tools.builtin.code import code_tools
from talaria.tools.context import ToolContext
from talaria.tools.declaration import Tool
from talaria.tools.result import Pictured
from talaria.tools.session import session_in_memory

MB = 1024 * 1024
UIDS = range(start := 1_700_000_000 + os.getpid() % 1_000_000 * 16, start + 16)


@dataclass
class Bench:
    """The tools of one session. What goes wrong is returned as the model is told it."""

    sandbox: AgentSandbox
    background: Background
    context: ToolContext
    said: list[str] = field(default_factory=list[str])

    @cached_property
    def tools(self) -> tuple[Tool[..., Any], ...]:
        return code_tools(self.background, timeout=20, result_limit=20_000, reaches_out=False)

    async def use(self, name: str, /, **arguments: Any) -> str | Pictured:
        tool = next(each for each in self.tools if each.name == name)
        tool.validator.validate(arguments)
        return await tool.call({**tool.defaults, **arguments}, replace(self.context, outlet=self))

    async def __call__(self, name: str, /, **arguments: Any) -> str:
        try:
            said = await self.use(name, **arguments)
        except TalariaError as error:
            return f"{type(error).__name__}: {error.message}"
        assert isinstance(said, str)
        return said

    async def bash(self, command: str, **more: Any) -> str:
        return await self("Bash", command=command, **more)

    def emit(self, name: str, data: Any) -> None:
        raise AssertionError(name)

    def output(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture
def state() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="talaria-tools-"))
    path.chmod(0o711)
    yield path / "state"
    shutil.rmtree(path)


@pytest.fixture
async def bench(state: Path) -> AsyncIterator[Bench]:
    launcher = Bubblewrap(state, uids=UIDS)
    size = Size(memory=512 * MB, cpus=1, pids=64, disk=64 * MB)
    options: dict[str, str | int | float] = {"disk": 64 * MB}
    sandbox = AgentSandbox(await launcher.launch(Launch(name="one", size=size, labels={}, options=options)))
    await sandbox.open()
    background = Background()
    yield Bench(sandbox, background, ToolContext(session=session_in_memory("s-1"), sandbox=sandbox))
    await sandbox.detach()
    await launcher.remove("one", workspace=True)
    await launcher.close()


@dataclass
class Kept:
    """What tools handed the user."""

    files: dict[str, bytes] = field(default_factory=dict[str, bytes])

    async def __call__(self, name: str, data: AsyncIterator[bytes] | bytes) -> Artifact:
        whole = data if isinstance(data, bytes) else b"".join([piece async for piece in data])
        self.files[name] = whole
        return Artifact("artifact_1", name, "text/plain", len(whole), 0, "0" * 64)
