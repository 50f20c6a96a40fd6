"""Broad excepts stand at the boundaries listed in broad_excepts.py and nowhere else."""

import ast
from collections import Counter

from tests.architecture.broad_excepts import BROAD_EXCEPTS
from tests.repository import SOURCE, python_files, tree

_BROAD = {"Exception", "BaseException", "ExceptionGroup", "BaseExceptionGroup"}


def names(node: ast.expr | None) -> set[str]:
    """Return the names of the exceptions an except clause catches; a bare one catches BaseException."""
    match node:
        case None:
            return {"BaseException"}
        case ast.Tuple(elts=parts):
            return set[str]().union(*(names(part) for part in parts))
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return {name}
        case _:
            return set()


def is_broad(node: ast.AST) -> bool:
    """Tell whether `node` swallows any exception: an except clause, or contextlib.suppress."""
    match node:
        case ast.ExceptHandler(type=caught):
            return bool(names(caught) & _BROAD)
        case ast.Call(func=ast.Name(id="suppress") | ast.Attribute(attr="suppress"), args=caught):
            return any(names(part) & _BROAD for part in caught)
        case _:
            return False


def test_broad_excepts_stand_only_at_listed_boundaries() -> None:
    found = Counter(
        path.relative_to(SOURCE).as_posix()
        for path in python_files(SOURCE)
        for node in ast.walk(tree(path))
        if is_broad(node)
    )
    assert dict(found) == {file: boundary.times for file, boundary in BROAD_EXCEPTS.items()}


def test_every_boundary_has_a_reason() -> None:
    assert [file for file, boundary in BROAD_EXCEPTS.items() if len(boundary.reason) < 10] == []
