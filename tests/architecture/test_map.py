"""The map of the house: every module says what it is for, none is too long, docs/map.md is fresh."""

from pathlib import Path

from scripts.map import Module, faults, modules, problems, render
from tests.repository import ROOT


def test_the_map_is_fresh_and_every_module_says_what_it_is_for() -> None:
    assert list(problems(ROOT)) == []


def test_the_map_names_every_module_with_its_first_docstring_line() -> None:
    text = render(modules(ROOT))
    assert "## talaria.core\n" in text
    assert "| `errors` | " in text
    assert "Everything that can go wrong, as one tree." in text


def test_a_silent_module_and_a_long_one_are_faults() -> None:
    good = Module(Path("core/ids.py"), "Ids.", 400)
    silent = Module(Path("core/x.py"), "", 1)
    long = Module(Path("core/y.py"), "Y.", 401)
    assert [fault.partition(" ")[0] for fault in faults([good, silent, long])] == [
        "src/talaria/core/x.py",
        "src/talaria/core/y.py",
    ]
