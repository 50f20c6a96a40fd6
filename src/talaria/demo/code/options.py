"""What the demos that need a sandbox may be told."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec

KINDS = ("auto", "docker", "bubblewrap", "none")


class CodeOptions(msgspec.Struct, frozen=True, gc=False):
    """How to run. `out`: the folder for the artifacts. `stays`: the server goes on until it is interrupted.

    `root`: the system that bubblewrap shows, as `sandbox.root` has it.
    """

    name: str
    out: Path
    sandbox: str
    root: str | None
    stays: bool
    limit: float = 120.0


def read_code_options(name: str, about: str, arguments: Sequence[str]) -> CodeOptions:
    """Read the command line of one demo."""
    parser = argparse.ArgumentParser(prog=f"talaria demo {name}", description=about)
    parser.add_argument("--out", type=Path, default=Path(), help="the folder for what the agent hands over")
    parser.add_argument("--sandbox", choices=KINDS, default="auto", help="the kind of sandbox; default: auto")
    parser.add_argument("--root", metavar="DIR", help="the system that bubblewrap shows, as sandbox.root has it")
    parser.add_argument("--stay", action="store_true", help="go on serving until Ctrl-C, to look at it")
    given = parser.parse_args(arguments)
    return CodeOptions(name, given.out, given.sandbox, given.root, given.stay)
