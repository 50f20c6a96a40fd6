"""The programs and services of the machine that some tests need: a missing one fails under CI and skips elsewhere."""

import os
import shutil
from pathlib import Path

import pytest

PROGRAMS = {
    "nginx": "nginx",
    "unshare": "unshare",
    "tmux": "tmux",
    "postgresql": "postgres",
    "mariadb-server": "mariadbd",
}
"""Service → the program that must be on the PATH."""

_SYSTEM_PATHS = ":".join(("/usr/local/sbin:/usr/sbin:/sbin", *map(str, Path("/usr/lib/postgresql").glob("*/bin"))))


def find(name: str) -> str | None:
    """Return the path of the program behind service `name` (administrators' folders too), or None."""
    path = f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM_PATHS}"
    return shutil.which(PROGRAMS[name], path=path)


def require(name: str) -> str:
    """Return the path of the program behind service `name`; without it fail under CI, else skip the test.

    Raises:
        KeyError: no such service in PROGRAMS.
    """
    path = find(name)
    if path is not None:
        return path
    message = f"{name} is missing: run scripts/system_packages.sh {name}"
    if os.environ.get("CI"):
        pytest.fail(message, pytrace=False)
    pytest.skip(message)
