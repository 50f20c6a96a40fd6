"""Limits by control groups, version 1 or 2: a group for each sandbox, under one named talaria."""

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from talaria.sandbox.launcher import Size

PARENT = "talaria"
_NEEDED = ("memory", "pids", "cpu")
_PERIOD = 100_000
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A folder under which groups can be made, and what they limit."""

    base: Path
    controllers: tuple[str, ...]
    version: int


def usable(process: Path = Path("/proc/self")) -> tuple[Hierarchy, ...]:
    """Return where memory, processes and processor time can all be limited by us; () where that is not so."""
    chosen: dict[str, Hierarchy] = {}
    for hierarchy in _mounted(process):
        new = tuple(each for each in hierarchy.controllers if each in _NEEDED and each not in chosen)
        if new and _writable(place := Hierarchy(hierarchy.base, new, hierarchy.version)):
            chosen |= dict.fromkeys(new, place)
    return tuple(dict.fromkeys(chosen.values())) if len(chosen) == len(_NEEDED) else ()


def names(places: tuple[Hierarchy, ...], name: str) -> list[Path]:
    """Return the groups a sandbox has: who writes 0 into their `cgroup.procs` is in them."""
    return [place.base / PARENT / name for place in places]


def make(places: tuple[Hierarchy, ...], name: str, size: Size) -> None:
    """Make the groups of a sandbox with their limits.

    Raises:
        OSError: the system does not let us.
    """
    for place in places:
        group = _made(place, name)
        for controller in place.controllers:
            for file, value in _limits(place.version, controller, size):
                # The files for swap are missing where the kernel does not count it.
                if (group / file).exists() or "sw" not in file:
                    (group / file).write_text(str(value))


def remove(groups: list[Path]) -> bool:
    """Remove groups; False if there was still something in one, which is killed. The parent goes with the last."""
    for group in groups:
        try:
            group.rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            _kill_all(group)
            return False
        _remove_if_empty(group.parent)
    return True


def _kill_all(group: Path) -> None:
    """For a sandbox whose first process nobody knows, such as one that was started on a full disk."""
    with suppress(OSError):
        for pid in (group / "cgroup.procs").read_text().split():
            os.kill(int(pid), signal.SIGKILL)


def _mounted(process: Path) -> list[Hierarchy]:
    """The hierarchies there are; of version 2 the root, the parent of our own group, and that."""
    own = dict(line.split(":", 2)[::2] for line in (process / "cgroup").read_text().splitlines()).get("0", "/")
    lines = (line.split() for line in (process / "mountinfo").read_text().splitlines())
    return list(chain.from_iterable(_hierarchies(fields, own) for fields in lines))


def _hierarchies(fields: list[str], own: str) -> list[Hierarchy]:
    # A line: id parent major:minor root point options [tags …] - type source options
    root, point, (kind, _, options) = fields[3], Path(fields[4]), fields[fields.index("-") + 1 :]
    if kind == "cgroup":
        return [Hierarchy(point, tuple(options.split(",")), 1)]
    if kind != "cgroup2":
        return []
    ours = point / own.removeprefix(root).lstrip("/")
    bases = dict.fromkeys((point, ours.parent if ours != point else point, ours))
    return [Hierarchy(base, _offered(base), 2) for base in bases if base.is_dir()]


def _offered(base: Path) -> tuple[str, ...]:
    return tuple((base / "cgroup.controllers").read_text().split())


def _writable(place: Hierarchy) -> bool:
    try:
        writable = os.access(_parent(place), os.W_OK)
    except OSError:
        return False
    _remove_if_empty(place.base / PARENT)
    return writable


def _parent(place: Hierarchy) -> Path:
    parent = place.base / PARENT
    parent.mkdir(exist_ok=True)
    if place.version > 1:
        # A group hands down only what it was told to; in one that holds processes this is refused.
        wanted = " ".join(f"+{each}" for each in place.controllers)
        (place.base / "cgroup.subtree_control").write_text(wanted)
        (parent / "cgroup.subtree_control").write_text(wanted)
    return parent


def _made(place: Hierarchy, name: str) -> Path:
    for _ in range(_TRIES):
        group = _parent(place) / name
        try:
            group.mkdir(exist_ok=True)
        except FileNotFoundError:
            # The last sandbox of another took the parent with it, just now.
            continue
        return group
    raise FileNotFoundError(f"{place.base / PARENT} is removed again and again")


def _limits(version: int, controller: str, size: Size) -> list[tuple[str, str | int]]:
    quota = max(1000, int(size.cpus * _PERIOD))
    match controller, version:
        case "memory", 1:
            return [("memory.limit_in_bytes", size.memory), ("memory.memsw.limit_in_bytes", size.memory)]
        case "memory", _:
            return [("memory.max", size.memory), ("memory.swap.max", 0)]
        case "cpu", 1:
            return [("cpu.cfs_period_us", _PERIOD), ("cpu.cfs_quota_us", quota)]
        case "cpu", _:
            return [("cpu.max", f"{quota} {_PERIOD}")]
        case _:
            return [("pids.max", size.pids)]


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
