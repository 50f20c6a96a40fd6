"""Files stay small and finished, and tests use real parts and real waits."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.repository import SOURCE, TESTS, python_files, relative, tree

_NOTE_TO_SELF = re.compile(r"\b(TODO|FIXME|XXX)\b")
_MAY_SLEEP = {"tests/polling.py"}


def lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def uses(module: ast.Module) -> Iterator[str]:
    """Yield the dotted names a module imports or reads as attributes: `unittest.mock`, `time.sleep`."""
    for node in ast.walk(module):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=str(origin), names=names):
                yield from (f"{origin}.{name.name}" for name in names)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                yield f"{name}.{attribute}"
            case _:
                pass


def users_of(name: str) -> set[str]:
    """Return the test files that use `name` or something inside it."""
    return {
        relative(path)
        for path in python_files(TESTS)
        if any(used == name or used.startswith(f"{name}.") for used in uses(tree(path)))
    }


def test_the_median_file_has_fewer_than_120_lines() -> None:
    assert median(lines(path) for path in python_files(SOURCE)) < 120


def test_no_file_has_more_than_400_lines() -> None:
    assert [relative(path) for path in python_files(SOURCE) if lines(path) > 400] == []


def test_no_file_holds_notes_to_self() -> None:
    assert [relative(path) for path in python_files(SOURCE) if _NOTE_TO_SELF.search(path.read_text("utf-8"))] == []


def test_tests_use_no_mocks() -> None:
    assert users_of("unittest.mock") == set()


def test_tests_wait_without_sleeping() -> None:
    assert users_of("time.sleep") - _MAY_SLEEP == set()
