"""What needs no isolation holds for the agent as a plain process, too."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

from talaria.ports.sandbox import Sandbox
from talaria.testing.sandbox_contract.commands import CommandContract
from talaria.testing.sandbox_contract.ending import EndingContract
from talaria.testing.sandbox_contract.files import FileContract
from talaria.testing.sandbox_contract.paths import PathContract
from talaria.testing.sandbox_contract.pipes import PipeContract
from tests.sandbox.bare import bare_sandbox


class TestBare(CommandContract, EndingContract, FileContract, PathContract, PipeContract):
    def open_sandbox(self, folder: Path) -> AbstractAsyncContextManager[Sandbox]:
        return bare_sandbox(folder)
