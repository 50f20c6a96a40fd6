"""The repository as files: what the architecture tests look at."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "talaria"
TESTS = ROOT / "tests"

_NOT_OURS = {".git", ".hypothesis", ".tools", ".venv", "__pycache__", "node_modules", "dist", "build"}


def relative(path: Path) -> str:
    """Return `path` as it is written in tables and messages: from the root, with slashes."""
    return path.relative_to(ROOT).as_posix()


def tree(path: Path) -> ast.Module:
    """Parse a Python file."""
    return ast.parse(path.read_text("utf-8"), relative(path))


def python_files(folder: Path) -> list[Path]:
    """Return the Python files below `folder`, sorted."""
    return sorted(folder.rglob("*.py"))


def tracked_files() -> list[Path]:
    """Return the files git knows or would add; without git, all files that are not built or installed here."""
    command = ("git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return sorted(_walk())
    return sorted(path for name in listed.split("\0") if name and (path := ROOT / name).is_file())


def _walk() -> Iterator[Path]:
    for path in ROOT.rglob("*"):
        parts = path.relative_to(ROOT).parts
        if path.is_file() and not any(part in _NOT_OURS or part.endswith("_cache") for part in parts):
            yield path
