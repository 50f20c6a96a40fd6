"""The shelf: bounded, checked, and never with a name out of a skill."""

import os
from pathlib import Path

import pytest

from talaria.core.errors import NotFound
from talaria.core.skills import Skill
from talaria.skills.files import SkillEntry, digest_of
from talaria.skills.shelf import YOUNG, Download, Shelf


def put(shelf: Shelf, text: bytes) -> str:
    entries = {"SKILL.md": SkillEntry(text), "run": SkillEntry(b"x", is_program=True)}
    digest = digest_of(entries)
    shelf.put(digest, entries)
    assert shelf.get(digest) == entries
    return digest


def test_what_was_not_used_for_longest_goes_first_and_what_is_young_stays(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, most=2500)
    old, used, young = (put(shelf, letter * 1000) for letter in (b"a", b"b", b"c"))
    assert all(map(shelf.has, (old, used, young)))
    for digest, age in ((old, 3 * YOUNG), (used, 2 * YOUNG)):
        state = (tmp_path / digest).stat()
        os.utime(tmp_path / digest, (state.st_atime - age, state.st_mtime - age))
    assert shelf.has(used)  # which is a use
    new = put(shelf, b"d" * 1000)
    assert [shelf.has(each) for each in (old, used, young, new)] == [False, True, True, True]


def test_files_that_are_gone_or_spoilt_are_not_found(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    digest = put(shelf, b"text")
    shelf.note("https://x/", Download(Skill("a", "d", digest), 1))
    assert shelf.noted("https://x/") is not None
    whole = (tmp_path / digest).read_bytes()
    for spoilt in (whole[:-1], whole.replace(b"text", b"evil"), b""):
        (tmp_path / digest).write_bytes(spoilt)
        with pytest.raises(NotFound, match="not kept here any more"):
            shelf.get(digest)
        assert not shelf.has(digest)
    assert shelf.noted("https://x/") is None


def test_only_digests_are_names_in_the_folder(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    digest = put(shelf, b"text")
    shelf.note("https://x/../../etc?key=hidden", Download(Skill("a", "d", digest), 1))
    names = sorted(each.name for each in tmp_path.iterdir())
    assert names[0] == digest
    assert names[1].startswith("url-")
    assert "hidden" not in str(names) + (tmp_path / names[1]).read_text()
