"""Imports follow the layers: the contracts in pyproject.toml hold."""

import subprocess
import sys

from tests.repository import ROOT


def test_imports_follow_the_layers() -> None:
    lint = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    command = (sys.executable, "-c", lint)
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
