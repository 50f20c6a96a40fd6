"""Containers pass the suite for every kind of sandbox."""

import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from talaria.ports.sandbox import Sandbox
from talaria.sandbox.agent_sandbox import AgentSandbox
from talaria.sandbox.docker.launcher import DockerLauncher
from talaria.sandbox.launcher import Launch
from talaria.testing.sandbox_contract import SIZE, SandboxContract


@pytest.mark.service("docker")
class TestDocker(SandboxContract):
    @pytest.fixture(autouse=True)
    def _launcher(self, launcher: DockerLauncher) -> None:
        self.launcher = launcher

    @asynccontextmanager
    async def open_sandbox(self, folder: Path) -> AsyncGenerator[Sandbox]:
        name = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
        options = {"disk": SIZE.disk, "orphan": 120}
        sandbox = AgentSandbox(await self.launcher.launch(Launch(name=name, size=SIZE, labels={}, options=options)))
        await sandbox.open()
        try:
            yield sandbox
        finally:
            await sandbox.close()
