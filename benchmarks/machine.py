"""What this process takes of the machine: cores, CPU time, memory."""

import os
import resource
from collections.abc import Callable
from pathlib import Path
from statistics import median

KIB = 1024
MIB = 1024 * 1024


def pin(core: int) -> None:
    """Stay on one core, where there are two and the system can do that: what is measured has core 0 for itself."""
    if hasattr(os, "sched_setaffinity") and (os.cpu_count() or 1) > 1:
        os.sched_setaffinity(0, {core})


def memory() -> int:
    """The resident memory of this process, in bytes."""
    return memory_of(os.getpid())


def memory_of(pid: int) -> int:
    """The resident memory of another process, in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()


def peak_memory() -> int:
    """The most resident memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB


def cpu_of(pid: int) -> float:
    """The CPU seconds that the threads of another process have had so far."""
    total = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e9


def middle(values: list[float]) -> float:
    """The median."""
    return median(values)


def spread(values: list[float]) -> float:
    """How far the values are apart, as a share of their median."""
    return (max(values) - min(values)) / (median(values) or 1.0)


def ratio(values: list[float], floors: list[float]) -> list[float]:
    """What neighbours in time are to each other: the machine's load changes from round to round, and falls out here."""
    return [value / floor for value, floor in zip(values, floors, strict=True)]


def disk(folder: Path, keep: Callable[[str], bool] = lambda _: True) -> int:
    """The bytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file() and keep(path.name))
