"""What this machine has for sandboxes: programs, a system to show, a filter, control groups. Blocks."""

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from talaria.core.errors import SandboxUnavailable
from talaria.sandbox.bubblewrap import control_groups, seccomp, system

_PROGRAMS = {"bwrap": "bubblewrap", "prlimit": "util-linux", "setpriv": "util-linux"}
_OPTION = "--disable-userns"


@dataclass(frozen=True, slots=True)
class Machine:
    """`show`: bwrap's arguments for the system. `groups`: () where only rlimits hold."""

    show: tuple[str, ...]
    python: str
    seccomp: bytes
    groups: tuple[control_groups.Hierarchy, ...]


def look(root: Path | None) -> Machine:
    """Find out, with `root` as the system of sandboxes or this machine's own.

    Raises:
        SandboxUnavailable: something is missing; the message says what to install.
    """
    if platform.system() != "Linux" or (program := seccomp.program(platform.machine())) is None:
        raise SandboxUnavailable("bubblewrap needs Linux on x86_64 or aarch64; use Docker here")
    path = search_path()
    missing = [package for name, package in _PROGRAMS.items() if shutil.which(name, path=path) is None]
    if missing:
        raise SandboxUnavailable(f"missing on this machine: {', '.join(dict.fromkeys(missing))}; install it, or Docker")
    usage = subprocess.run(
        ["bwrap", "--help"],  # noqa: S607
        env={"PATH": path},
        capture_output=True,
        check=False,
        timeout=10,
        text=True,
    )
    if _OPTION not in usage.stdout + usage.stderr:
        raise SandboxUnavailable("this bubblewrap is too old: 0.8 or newer is needed")
    if root is not None and (closed := closed_to_others(root)):
        raise SandboxUnavailable(f"{closed} is closed to other users: move sandbox.root where they may enter")
    interpreter, shown = system.python(root)
    return Machine((*system.system(root), *shown), interpreter, program, control_groups.usable())


def search_path() -> str:
    """Where programs are looked for: administrators' folders, too."""
    return os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))


def closed_to_others(path: Path) -> Path | None:
    """Return the folder on the way to `path`, or itself, that keeps out uids a sandbox started by root runs as."""
    if os.geteuid() != 0:
        return None
    return next((each for each in (*reversed(path.parents), path) if not each.stat().st_mode & 0o001), None)
