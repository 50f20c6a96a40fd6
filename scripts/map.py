#!/usr/bin/env python3
"""Print the map of the house: every package and module of src/talaria with its first docstring line and its length.

Usage: scripts/map.py [--write | --check]

    --write  put the map into docs/map.md as well
    --check  print what is wrong instead, and end with 1 if anything is
"""

import ast
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
MAP = "docs/map.md"
SOURCE = "src/talaria"
LONGEST = 400


@dataclass(frozen=True)
class Module:
    """A Python file: its path below src/talaria, the first line of its docstring ("" without one), its lines."""

    path: Path
    summary: str
    lines: int

    @property
    def package(self) -> str:
        """The dotted folder it lies in, "" for the top."""
        return ".".join(self.path.parent.parts)


def read(path: Path, source: Path) -> Module:
    """Read one file."""
    text = path.read_text("utf-8")
    docstring = ast.get_docstring(ast.parse(text)) or ""
    return Module(path.relative_to(source), docstring.partition("\n")[0].strip(), len(text.splitlines()))


def modules(root: Path) -> list[Module]:
    """Read all modules below `root`/src/talaria, packages from the top layer down, `__init__` first in each."""
    source = root / SOURCE
    order = {name: rank for rank, name in enumerate(layers(root))}

    def key(module: Module) -> tuple[int, str, bool, str]:
        top, *_ = (*module.path.parent.parts, "")
        rank = -1 if not top else order.get(top, len(order))
        return rank, module.package, module.path.name != "__init__.py", module.path.name

    return sorted((read(path, source) for path in source.rglob("*.py")), key=key)


def layers(root: Path) -> Iterator[str]:
    """Name the packages in the order of the layers contract in pyproject.toml."""
    with (root / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    for layer in next(contract["layers"] for contract in contracts if contract["id"] == "layers"):
        yield from (name.strip(" ()") for name in layer.split("|"))


def render(found: list[Module]) -> str:
    """Return the map as Markdown."""
    sizes = [module.lines for module in found]
    head = (
        "# The map of the house\n\n"
        "Written by `make map` from the first docstring line of every module; a test keeps it fresh.\n"
        f"{len(found)} modules, {sum(sizes)} lines; median {median(sizes):g}, longest {max(sizes)}.\n"
    )
    return head + "".join(section(package, list(group)) for package, group in groupby(found, lambda m: m.package))


def section(package: str, found: list[Module]) -> str:
    """Return one package as Markdown: a heading, its own first line, a table of its modules."""
    name = f"talaria.{package}".rstrip(".")
    sizes = [module.lines for module in found]
    summary = "".join(f"{module.summary}\n" for module in found if module.path.name == "__init__.py")
    rows = "".join(
        f"| `{module.path.stem}` | {module.lines} | {module.summary.replace('|', chr(92) + '|')} |\n"
        for module in found
        if module.path.name != "__init__.py"
    )
    table = f"\n| module | lines | what it is for |\n| --- | --: | --- |\n{rows}" if rows else ""
    return f"\n## {name}\n\n{summary}\n{sum(sizes)} lines, median {median(sizes):g}.\n{table}"


def problems(root: Path) -> Iterator[str]:
    """Yield a sentence for everything that is wrong with the house."""
    found = modules(root)
    yield from faults(found)
    path = root / MAP
    if not path.is_file() or path.read_text("utf-8") != render(found):
        yield f"{MAP} is stale: run `make map`"


def faults(found: Iterable[Module]) -> Iterator[str]:
    """Yield a sentence for every module that says nothing of itself or is too long."""
    for module in found:
        if not module.summary:
            yield f"{SOURCE}/{module.path} has no docstring that says what it is for"
        if module.lines > LONGEST:
            yield f"{SOURCE}/{module.path} has {module.lines} lines; split it, {LONGEST} is the most"


def main(arguments: list[str]) -> int:
    """Run the command line; returns the exit code."""
    if "--check" in arguments:
        wrong = list(problems(ROOT))
        print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
        return bool(wrong)
    text = render(modules(ROOT))
    if "--write" in arguments:
        (ROOT / MAP).write_text(text, "utf-8")
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
