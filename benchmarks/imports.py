"""What `import talaria` takes: time, and memory beside a bare interpreter."""

import subprocess
import sys

from benchmarks.child import ROOT
from benchmarks.figures import Figure, compared, plain
from benchmarks.size import Size

TITLE = "Import"
SCRIPT = """
import resource, time
def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1048576
before, began = memory(), time.perf_counter()
{}
print(time.perf_counter() - began, memory() - before, memory())
"""


def _taken(statement: str) -> tuple[float, float, float]:
    """Seconds, MB more than before, MB in all."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(statement)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    seconds, more, whole = done.stdout.split()
    return float(seconds), float(more), float(whole)


def measure(_: str, size: Size) -> list[Figure]:
    """Measure."""
    floor: list[tuple[float, float, float]] = []
    talaria: list[tuple[float, float, float]] = []
    for _round in range(size.rounds + 1):
        floor.append(_taken("import aiohttp, msgspec"))
        talaria.append(_taken("import talaria"))
    floor, talaria = floor[1:], talaria[1:]  # the first round finds nothing in the file cache
    return [
        plain("import talaria", "s", [one[0] for one in talaria], most=0.3),
        compared("beside aiohttp and msgspec", "s", [one[0] for one in talaria], [one[0] for one in floor]),
        plain("resident memory after it", "MB", [one[2] for one in talaria], most=60),
        compared("memory that it took", "MB", [one[1] for one in talaria], [one[1] for one in floor]),
    ]
