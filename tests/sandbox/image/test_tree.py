"""Making the system: what is refused with what to do, and that a failure leaves what was there."""

import os
from pathlib import Path

import pytest

from talaria.core.errors import SandboxUnavailable
from talaria.sandbox.image import recipe, tree
from talaria.sandbox.image.sources import Source


def test_another_recipe_makes_another_system() -> None:
    assert recipe.recipe("bookworm") == recipe.recipe("bookworm")
    assert recipe.recipe("bookworm") != recipe.recipe("trixie")
    assert recipe.recipe("bookworm").startswith("bookworm-")


def test_a_system_is_known_by_its_mark(tmp_path: Path) -> None:
    assert recipe.made_by(tmp_path) is None
    (tmp_path / "etc").mkdir()
    recipe.mark(tmp_path, "bookworm-1")
    assert recipe.made_by(tmp_path) == "bookworm-1"


def test_the_default_root_is_one_that_was_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "ROOT", tmp_path)
    assert recipe.default_root() is None
    (tmp_path / "etc").mkdir()
    recipe.mark(tmp_path, "bookworm-1")
    assert recipe.default_root() == tmp_path


def test_a_mirror_that_is_named_is_the_only_one() -> None:
    assert tree.origin("bookworm", "https://mirror.example/debian") == tree.Origin(
        "bookworm", (Source("https://mirror.example/debian", "bookworm", ("main",)),)
    )


def test_a_suite_without_a_source_is_named() -> None:
    with pytest.raises(SandboxUnavailable, match="has no-such-suite with main; name one: --mirror URL"):
        tree.origin("no-such-suite")


def test_missing_tools_are_named_with_their_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tree, "_SYSTEM_PATHS", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(SandboxUnavailable, match=r"needs debootstrap, unshare, apt-get: `apt-get install debootstrap"):
        tree.check_tools()


@pytest.mark.service("debootstrap")
def test_without_root_it_is_said_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    with pytest.raises(SandboxUnavailable, match="needs root: `sudo talaria sandbox build`"):
        tree.check_tools()


@pytest.mark.service("debootstrap")
def test_what_was_there_stays_when_a_new_one_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root makes trees")
    monkeypatch.setattr(tree, "CACHE", tmp_path / "cache")
    old = tmp_path / "root"
    (old / "etc").mkdir(parents=True)
    recipe.mark(old, "bookworm-1")

    with pytest.raises(SandboxUnavailable, match="could not be made"):
        tree.make_tree(old, tree.origin("no-such-suite", "http://127.0.0.1:9/debian"))

    assert recipe.made_by(old) == "bookworm-1"
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["cache", "root"]
    mounts = Path("/proc/mounts").read_text(encoding="utf-8")
    assert str(tmp_path) not in mounts
