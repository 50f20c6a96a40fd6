"""Names of files: fit for every system, told apart, written into a header."""

import re
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.artifacts.names import LONGEST, disposition, distinct, safe_name


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("报告.pdf", "报告.pdf"),
        ("plan-🚀.txt", "plan-🚀.txt"),
        ('a"b.txt', 'a"b.txt'),
        ("x\r\nSet-Cookie: a=b.txt", "x__Set-Cookie: a=b.txt"),
        ("back\\slash.txt", "back_slash.txt"),
        ("../../etc/passwd", ".._.._etc_passwd"),
        ("%2e%2e%2fetc", "%2e%2e%2fetc"),
        ("e\u0301.txt", "\u00e9.txt"),
        (".htaccess", ".htaccess"),
        ("...", "file"),
        ("..", "file"),
        ("", "file"),
        ("/", "file"),
        ("  a.txt ", "a.txt"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("evil\u202egnp.exe", "evil_gnp.exe"),
        ("a\0b\ud800.txt", "a_b_.txt"),
        ("n" * 255 + ".txt", "n" * 196 + ".txt"),
        ("图" * 100 + ".csv", "图" * 65 + ".csv"),
    ],
)
def test_a_name_becomes_one_that_is_safe_everywhere(name: str, safe: str) -> None:
    assert safe_name(name) == safe


@given(st.text(max_size=300))
def test_every_name_is_one_component_of_a_path(name: str) -> None:
    safe = safe_name(name)
    assert safe not in ("", ".", "..")
    assert not re.search(r"[\x00-\x1f\x7f/\\]", safe)
    assert len(safe.encode()) <= LONGEST
    assert safe_name(safe) == safe


def test_equal_names_are_told_apart_without_regard_to_case() -> None:
    taken = set[str]()
    for _ in range(3):
        taken.add(distinct("Data.csv" if taken else "data.csv", taken))
    assert taken == {"data.csv", "Data-2.csv", "Data-3.csv"}
    assert distinct(".htaccess", [".htaccess"]) == ".htaccess-2"
    assert len(distinct("n" * 196 + ".txt", ["n" * 196 + ".txt"]).encode()) == LONGEST


@given(st.text(min_size=1, max_size=80).map(safe_name))
def test_a_header_holds_any_name_on_one_line(name: str) -> None:
    value = disposition("attachment", name)
    found = re.fullmatch(r"""attachment; filename="([ -~]*)"; filename\*=UTF-8''([!-~]+)""", value)
    assert found is not None
    assert not re.search(r'["\\%]', found[1])
    assert unquote(found[2], errors="strict") == name


def test_old_clients_get_a_name_in_ascii() -> None:
    assert disposition("inline", 'é 报告"%41.pdf') == (
        "inline; filename=\"e_ ____41.pdf\"; filename*=UTF-8''%C3%A9%20%E6%8A%A5%E5%91%8A%22%2541.pdf"
    )
