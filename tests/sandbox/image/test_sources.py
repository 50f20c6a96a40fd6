"""The archives that apt of this machine uses, in both of its notations."""

from pathlib import Path

from talaria.sandbox.image.sources import Source, codename, of_suite, read_sources

STANZAS = """\
# made by an installer
Types: deb deb-src
URIs: http://deb.debian.org/debian
Suites: bookworm bookworm-updates
# a remark between
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: https://mirror.example/security
Suites: bookworm-security
Components: main

Types: deb
URIs: https://off.example/debian
Suites: bookworm
Components: main
Enabled: no

Types: deb
URIs: https://node.example
Suites: nodistro
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
"""
LINES = """\
deb-src http://deb.debian.org/debian bookworm main
deb [arch=amd64 signed-by=/etc/keys/own.asc] https://own.example/debian bookworm main non-free # ours
deb cdrom:[Debian] bookworm
"""
KEY = "/usr/share/keyrings/debian-archive-keyring.gpg"


def test_stanzas_are_read_with_every_suite_and_without_those_that_are_off(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list.d" / "debian.sources").write_text(STANZAS)
    (tmp_path / "sources.list.d" / "debian.sources.save").write_text(STANZAS)

    assert read_sources(tmp_path) == [
        Source("http://deb.debian.org/debian", "bookworm", ("main", "contrib"), KEY),
        Source("http://deb.debian.org/debian", "bookworm-updates", ("main", "contrib"), KEY),
        Source("https://mirror.example/security", "bookworm-security", ("main",)),
        Source("https://node.example", "nodistro", ("main",)),
    ]


def test_lines_are_read_with_their_key(tmp_path: Path) -> None:
    (tmp_path / "sources.list").write_text(LINES)

    assert read_sources(tmp_path) == [
        Source("https://own.example/debian", "bookworm", ("main", "non-free"), "/etc/keys/own.asc"),
    ]


def test_only_the_distributions_own_archives_are_taken(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list.d" / "debian.sources").write_text(STANZAS)
    sources = read_sources(tmp_path)

    assert [each.suite for each in of_suite(sources, "bookworm")] == [
        "bookworm",
        "bookworm-updates",
        "bookworm-security",
    ]
    assert of_suite(sources, "trixie") == []


def test_a_line_is_what_apt_reads_again(tmp_path: Path) -> None:
    source = Source("https://own.example/debian", "bookworm", ("main", "non-free"), "/etc/keys/own.asc")
    (tmp_path / "sources.list").write_text(source.line(source.key) + "\n")

    assert read_sources(tmp_path) == [source]


def test_the_suite_of_this_machine_is_what_its_release_says(tmp_path: Path) -> None:
    release = tmp_path / "os-release"
    release.write_text('NAME="Debian GNU/Linux"\nVERSION_CODENAME=bookworm\n')

    assert codename(release) == "bookworm"
    assert codename(tmp_path / "nothing") is None
