"""The programs and services of the machine that some tests need: a missing one fails under CI and skips elsewhere."""

import os
import shutil
import socket
from functools import cache
from pathlib import Path

import pytest

from talaria.sandbox.docker.address import address_in

PROGRAMS = {
    "bwrap": "bwrap",
    "nginx": "nginx",
    "unshare": "unshare",
    "tmux": "tmux",
    "chromium": "chromium",
    "debootstrap": "debootstrap",
    "postgresql": "postgres",
    "mariadb-server": "mariadbd",
}
"""Service → the program that must be on the PATH."""
PACKAGES = {"bwrap": "bubblewrap"}
"""Service → the Debian package, where that has another name."""
MISSING = {"docker": "no Docker engine answers here, or it has no image talaria-sandbox: run `make services` as root"}

_SYSTEM_PATHS = ":".join(("/usr/local/sbin:/usr/sbin:/sbin", *map(str, Path("/usr/lib/postgresql").glob("*/bin"))))


def find(name: str) -> str | None:
    """Return the path of the program behind service `name` (administrators' folders too), or None.

    Docker: where its engine answers, if it has the image of sandboxes.
    """
    if name == "docker":
        return _engine()
    path = f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM_PATHS}"
    return shutil.which(PROGRAMS[name], path=path)


def require(name: str) -> str:
    """Return what `find` does; where it finds nothing fail under CI, else skip the test.

    Raises:
        KeyError: no such service in PROGRAMS.
    """
    path = find(name)
    if path is not None:
        return path
    message = MISSING.get(name) or f"{name} is missing: run scripts/system_packages.sh {PACKAGES.get(name, name)}"
    if os.environ.get("CI"):
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


@cache
def _engine() -> str | None:
    address = address_in(os.environ, Path.home()) or ""
    if not address.startswith("unix://"):
        return None
    with socket.socket(socket.AF_UNIX) as engine:
        engine.settimeout(10)
        try:
            engine.connect(address.removeprefix("unix://"))
            engine.sendall(b"GET /images/talaria-sandbox/json HTTP/1.0\r\n\r\n")
            return address if b" 200 " in engine.recv(100) else None
        except OSError:
            return None
