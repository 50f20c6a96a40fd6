"""Zips from anybody: good ones are read, hostile ones refused as a whole, with a word on which entry it is."""

import warnings
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.core.errors import InvalidRequest
from talaria.skills.archive import MOST_ENTRIES, read_zip
from talaria.skills.files import LARGEST, MOST
from tests.skills.zips import DEVICE, LINK, MD, special, zipped

HOSTILE = [
    *(
        "../evil.txt",
        "/abs.txt",
        "a/../../evil",
        "a\\..\\..\\win.txt",
        "C:\\win.txt",
        "C:evil",
        "\\\\srv\\share\\x",
        "..",
    ),
    *("con.txt", "x/NUL", "skill:ads", "SKILL.md/../other-skill/SKILL.md", "a/b.", "b /c", "what?", "\u202etxt.exe"),
    *("a\u200bb", "very/" * 60 + "deep.md", "n" * 500 + ".md", "LPT1.md", "com¹.txt", "."),
]


@pytest.mark.parametrize("name", HOSTILE)
def test_one_hostile_name_makes_the_whole_zip_refused_and_is_named(name: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        read_zip(zipped("fine.md", name))
    assert repr(name)[1:20] in refused.value.message


def test_a_name_with_a_nul_is_refused() -> None:
    data = zipped("x_.md").replace(b"x_.md", b"x\0.md")
    with pytest.raises(InvalidRequest, match="cannot be seen"):
        read_zip(data)


def test_harmless_names_are_read() -> None:
    entries = read_zip(zipped("./ok.md", "a..b.md", "scripts/run.sh", "dir/", "a/./b", "__MACOSX/._SKILL.md", "名.md"))
    assert sorted(entries) == ["SKILL.md", "a..b.md", "a/b", "ok.md", "scripts/run.sh", "名.md"]


def test_one_folder_around_all_is_taken_off() -> None:
    entries = read_zip(zipped(("repo-main/SKILL.md", MD), "repo-main/a.md", "__MACOSX/repo-main/._a.md", md=None))
    assert sorted(entries) == ["SKILL.md", "a.md"]


def test_two_skills_in_one_zip_are_named() -> None:
    with pytest.raises(InvalidRequest, match=r"2 skills in it: a/SKILL\.md, b/SKILL\.md"):
        read_zip(zipped(("a/SKILL.md", MD), ("b/SKILL.md", MD), md=None))


@pytest.mark.parametrize("entries", [(), ("skill.md",), ("a/b/SKILL.md",), ("a/SKILL.md", "b.md")])
def test_a_zip_without_a_skill_at_its_top_is_refused(entries: tuple[str, ...]) -> None:
    with pytest.raises(InvalidRequest, match=r"there is no SKILL\.md at its top"):
        read_zip(zipped("x.md", *entries, md=None))


@pytest.mark.parametrize("mode", [LINK, DEVICE])
def test_links_and_devices_are_refused(mode: int) -> None:
    with pytest.raises(InvalidRequest, match="'evil' is a link or a device"):
        read_zip(zipped((special("evil", mode), b"/etc/passwd")))


def test_only_whether_a_file_may_be_run_is_kept_of_its_mode() -> None:
    entries = read_zip(zipped((special("run", 0o104755), b"x"), (special("read", 0o100644), b"x")))
    assert (entries["run"].is_program, entries["read"].is_program) == (True, False)


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (("A.md", "a.md"), "'A.md' and 'a.md' have the same name"),
        (("Dir/a", "dir/b"), "'Dir' and 'dir' have the same name"),
        (("a", "A/b"), "'a' is a file, and 'A' a folder"),
        (("caf\u00e9.md", "cafe\u0301.md"), "have the same name"),
        (("stra\u00dfe", "strasse"), "have the same name"),
    ],
)
def test_names_that_are_the_same_somewhere_are_refused(entries: tuple[str, ...], said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        read_zip(zipped(*entries))


def test_a_name_that_is_there_twice_is_refused() -> None:
    with warnings.catch_warnings(action="ignore"):
        data = zipped("a.md", "a.md")
    with pytest.raises(InvalidRequest, match=r"'a\.md' is there twice"):
        read_zip(data)


def test_bombs_are_refused_before_they_are_unpacked() -> None:
    with pytest.raises(InvalidRequest, match="it is a bomb"):
        read_zip(zipped(("zeros", bytes(8 * 1024 * 1024))))
    with pytest.raises(InvalidRequest, match=f"{MOST} and {LARGEST} are the limits"):
        read_zip(zipped(("zeros", bytes(LARGEST))))
    with pytest.raises(InvalidRequest, match=f"{MOST + 2} files"):
        read_zip(zipped(*(f"{n}.md" for n in range(MOST + 1))))
    with pytest.raises(InvalidRequest, match=f"{MOST_ENTRIES} are the limit"):
        read_zip(zipped(*(f"{n}/" for n in range(MOST_ENTRIES + 1))))


def test_a_zip_in_a_zip_stays_a_file() -> None:
    inner = zipped(("zeros", bytes(1024 * 1024)))
    assert read_zip(zipped(("inner.zip", inner)))["inner.zip"].data == inner


def test_a_size_that_is_a_lie_is_found_out() -> None:
    data = bytearray(zipped(("a.md", b"x" * 5000)))
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = (3).to_bytes(4, "little")
    with pytest.raises(InvalidRequest, match=r"broken|not as long"):
        read_zip(bytes(data))


def test_a_file_that_is_called_another_name_before_its_bytes_is_refused() -> None:
    data = zipped("good.md")
    at = data.index(b"good.md")
    with pytest.raises(InvalidRequest, match="broken"):
        read_zip(data[:at] + b"evil.md" + data[at + 7 :])


@pytest.mark.parametrize("bit", [0x1, 0x40, 0x2000])
def test_encrypted_files_are_refused(bit: int) -> None:
    data = bytearray(zipped("a.md"))
    at = data.rindex(b"PK\x01\x02") + 8
    data[at : at + 2] = (int.from_bytes(data[at : at + 2], "little") | bit).to_bytes(2, "little")
    with pytest.raises(InvalidRequest, match="encrypted"):
        read_zip(bytes(data))


def test_names_in_unknown_encodings_are_refused() -> None:
    data = zipped("\u540d.md")
    for mark in (b"PK\x03\x04", b"PK\x01\x02"):
        at = data.rindex(mark) + (6 if mark == b"PK\x03\x04" else 8)
        data = data[:at] + b"\0\0" + data[at + 2 :]
    with pytest.raises(InvalidRequest, match="UTF-8"):
        read_zip(data)


def test_what_has_something_around_it_is_no_zip() -> None:
    data = zipped()
    for odd in (b"#!/bin/sh\n" + data, data + b"more", data[:-10], b"PK\x03\x04", b""):
        with pytest.raises(InvalidRequest):
            read_zip(odd)
    with pytest.raises(InvalidRequest, match="list is not where"):
        read_zip(data.replace(b"PK\x01\x02", b"xPK\x01\x02"))


def test_a_zip64_is_refused() -> None:
    data = zipped()
    at = data.rindex(b"PK\x05\x06")
    with pytest.raises(InvalidRequest, match="zip64"):
        read_zip(data[:at] + b"PK\x06\x07" + bytes(16) + data[at:])


def test_files_that_lie_over_each_other_are_refused() -> None:
    data = bytearray(zipped(("a.md", b"x" * 5000), ("b.md", b"x" * 5000)))
    at = data.rindex(b"PK\x01\x02")
    first = data.index(b"PK\x03\x04", 4)
    data[at + 42 : at + 46] = first.to_bytes(4, "little")
    with pytest.raises(InvalidRequest, match="lie over each other"):
        read_zip(bytes(data))


def test_a_comment_is_no_harm() -> None:
    data = zipped()
    assert "SKILL.md" in read_zip(data[:-2] + b"\x03\x00abc")


@given(st.data())
def test_a_spoilt_zip_is_read_or_refused_and_nothing_else(data: st.DataObject) -> None:
    whole = bytearray(zipped("a.md", "b/c.md"))
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        entries = read_zip(bytes(whole))
    except InvalidRequest:
        return
    assert "SKILL.md" in entries
    assert not any(".." in path.split("/") or path.startswith("/") for path in entries)


def test_unusual_packing_is_refused() -> None:
    info = zipfile.ZipInfo("a.md")
    info.compress_type = zipfile.ZIP_BZIP2
    with pytest.raises(InvalidRequest, match="unusual"):
        read_zip(zipped((info, b"text")))
