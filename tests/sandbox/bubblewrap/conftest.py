"""A launcher with a state folder of its own, and a look at what it leaves."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from talaria.sandbox.bubblewrap import Bubblewrap
from talaria.sandbox.bubblewrap.control_groups import PARENT
from tests.sandbox.bubblewrap.plain_agent import SOURCE

UIDS = range(start := 1_800_000_000 + os.getpid() % 1_000_000 * 16, start + 16)
"""Nobody else's: what runs as one of them was started here."""


@pytest.fixture
def state() -> Iterator[Path]:
    """A folder that other users may enter; pytest's own may not be."""
    path = Path(tempfile.mkdtemp(prefix="talaria-"))
    path.chmod(0o711)
    yield path / "state"
    shutil.rmtree(path)


@pytest.fixture
async def launcher(state: Path) -> AsyncIterator[Bubblewrap]:
    launcher = Bubblewrap(state, agent=lambda: SOURCE, uids=UIDS)
    yield launcher
    for each in await launcher.found():
        await launcher.remove(each.name, workspace=True)
    await launcher.close()
    assert left_over(state) == []


def left_over(state: Path) -> list[str]:
    """Processes, mounts, control groups and folders of a state folder that are still there."""
    mine = [
        process
        for process in processes()
        if int(process.split()[-1]) in UIDS or ("bwrap" in process and str(state) in process)
    ]
    mounts = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(state) in line]
    folders = [str(path) for path in state.glob("*") if path.name != "lock"]
    deployment = Bubblewrap(state).deployment
    parents = [path / PARENT for path in (Path("/sys/fs/cgroup"), *Path("/sys/fs/cgroup").glob("*"))]
    groups = [str(path) for parent in parents for path in parent.glob(f"{deployment}-*")]
    return mine + mounts + folders + groups


def processes() -> list[str]:
    """All processes of the machine, each as its pid, command line and uid.

    Not those which ended and wait for the machine's first process to notice.
    """
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (path / "stat").read_text().rpartition(")")[2].split()[:2] != ["Z", "1"]:
                found.append(f"{path.name} {(path / 'cmdline').read_bytes()!r} {path.stat().st_uid}")
    return found
