"""`python -m benchmarks [NAME …] [--check] [--rounds N] [--tiny]`: measure, print tables, write JSON."""

import argparse
import sys
from collections.abc import Sequence
from types import ModuleType

from benchmarks import (
    containers,
    decoding,
    figures,
    guard,
    imports,
    long_session,
    many_sessions,
    parked,
    policy,
    quotas,
    relay,
    sandboxes,
    skills,
    slow_readers,
    tokens,
    tool_calls,
    tools,
)
from benchmarks.mock_model import mock_model
from benchmarks.size import TINY, Size

MEASURES: dict[str, ModuleType] = {
    "tool_calls": tool_calls,
    "tools": tools,
    "policy": policy,
    "guard": guard,
    "tokens": tokens,
    "decoding": decoding,
    "many_sessions": many_sessions,
    "long_session": long_session,
    "imports": imports,
    "parked": parked,
    "quotas": quotas,
    "relay": relay,
    "sandboxes": sandboxes,
    "skills": skills,
    "slow_readers": slow_readers,
    "containers": containers,
}


def measure(names: Sequence[str], size: Size) -> dict[str, list[figures.Figure]]:
    """Measure, and print each table as soon as it is there."""
    measured: dict[str, list[figures.Figure]] = {}
    with mock_model() as origin:
        for name in names:
            module = MEASURES[name]
            measured[name] = module.measure(origin, size)
            print(figures.table(module.TITLE, measured[name]), flush=True)
    return measured


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code: 1 when `--check` finds a figure over its bound."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What Talaria costs.")
    parser.add_argument("names", nargs="*", help=f"which of {', '.join(MEASURES)}; all when absent")
    parser.add_argument("--check", action="store_true", help="end with 1 when a figure is over its bound")
    parser.add_argument("--rounds", type=int, default=Size().rounds, help="alternating rounds of each measure")
    parser.add_argument("--tiny", action="store_true", help="just enough to see that everything works")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in MEASURES]:
        parser.error(f"no measure named {', '.join(unknown)}; there are {', '.join(MEASURES)}")
    measured = measure(options.names or list(MEASURES), TINY if options.tiny else Size(options.rounds))
    print(f"\nwritten to {figures.write(measured)}")
    over = [f"{name}: {each.name}" for name, found in measured.items() for each in found if each.is_over]
    if over:
        print("over their bounds:", *over, sep="\n  ", file=sys.stderr)
    return 1 if over and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
