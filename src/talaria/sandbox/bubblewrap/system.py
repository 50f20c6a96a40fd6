"""What a sandbox sees as its system: a root folder made for it, or this machine's own programs and little else."""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from talaria.core.errors import SandboxUnavailable

_PROGRAMS = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
_OF_A_ROOT = (*_PROGRAMS, "opt", "var")
_SETTINGS = (
    "alternatives", "ca-certificates", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime",
    "matplotlibrc", "mime.types", "pki/ca-trust/extracted", "pki/tls/certs", "ssl/certs", "ssl/openssl.cnf",
)  # fmt: skip
"""Of /etc: what programs need and nobody keeps secret."""
_OLDEST = 9
"""Of Python 3: what the agent needs."""

FILES: Mapping[str, str] = {
    "/etc/passwd": "sandbox:x:1000:1000::/workspace:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
    "/etc/group": "sandbox:x:1000:\nnogroup:x:65534:\n",
    "/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
"""Files that every sandbox has, whatever its system."""


def system(root: Path | None) -> list[str]:
    """Return bwrap's arguments that show the system, read-only.

    Raises:
        SandboxUnavailable: `root` is no system.
    """
    if root is not None and not (root / "usr/bin").is_dir():
        raise SandboxUnavailable(
            f"{root} holds no system: make one with `talaria sandbox build`, or unset sandbox.root"
        )
    base = root or Path("/")
    settings = (
        ("--ro-bind", str(path), f"/etc/{each}") for each in _SETTINGS if (path := base / "etc" / each).exists()
    )
    return [*_shown(base, _OF_A_ROOT if root else _PROGRAMS), *(word for words in settings for word in words)]


def python(root: Path | None) -> tuple[str, list[str]]:
    """Return the Python that runs the agent, as seen inside, and bwrap's arguments that show it.

    Raises:
        SandboxUnavailable: there is none.
    """
    for folder in ("usr/local/bin", "usr/bin"):
        if name := _newest_python(root or Path("/"), folder):
            return f"/{folder}/{name}", []
    if root is not None:
        raise SandboxUnavailable(f"{root} has no Python 3.9 or newer: make it with `talaria sandbox build`")
    base = os.path.realpath(sys.base_prefix)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return f"{base}/bin/{version}", ["--ro-bind", base, base]


def _shown(root: Path, names: tuple[str, ...]) -> list[str]:
    arguments: list[str] = []
    for name in names:
        path = root / name
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), f"/{name}"]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), f"/{name}"]
    return arguments


def _newest_python(root: Path, folder: str) -> str | None:
    """By the names in a folder, such as python3.11, that lead to something which is shown: nothing is run."""
    shown = os.path.realpath(root / "usr") + os.sep
    found = (re.fullmatch(r"python3\.(\d+)", each.name) for each in (root / folder).glob("python3.*"))
    versions = sorted(
        int(each[1]) for each in found if each and os.path.realpath(root / folder / each[0]).startswith(shown)
    )
    return f"python3.{versions[-1]}" if versions and versions[-1] >= _OLDEST else None
