"""Bubblewrap under the suite that every kind of sandbox must pass."""

import hashlib
import os
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from talaria.ports.sandbox import Sandbox
from talaria.sandbox.agent_sandbox import AgentSandbox
from talaria.sandbox.bubblewrap import Bubblewrap
from talaria.sandbox.launcher import Launch
from talaria.testing.sandbox_contract import SIZE, SandboxContract
from tests.sandbox.bubblewrap.conftest import UIDS, left_over


@pytest.mark.service("bwrap")
class TestBubblewrap(SandboxContract):
    @pytest.fixture(autouse=True)
    async def _launcher_of_the_agent(self, state: Path) -> AsyncGenerator[None]:
        self._launcher = Bubblewrap(state, uids=UIDS)
        yield
        for each in await self._launcher.found():
            await self._launcher.remove(each.name, workspace=True)
        await self._launcher.close()
        assert left_over(state) == []

    def open_sandbox(self, folder: Path) -> AbstractAsyncContextManager[Sandbox]:
        return self._opened(hashlib.sha256(os.fsencode(folder)).hexdigest()[:16])

    @asynccontextmanager
    async def _opened(self, name: str) -> AsyncGenerator[Sandbox]:
        link = await self._launcher.launch(
            Launch(name=name, size=SIZE, labels={}, options={"disk": SIZE.disk, "orphan": 60})
        )
        sandbox = AgentSandbox(link)
        await sandbox.open()
        yield sandbox
        await sandbox.close()
        await self._launcher.remove(name, workspace=False)
