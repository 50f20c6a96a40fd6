"""SKILL.md, by the specification and as it is found in the wild."""

import base64
import time

import pytest

from talaria.core.errors import InvalidRequest
from talaria.core.front_matter import read_front_matter
from talaria.skills.skill_file import read_skill_file
from tests.skills.zips import skill_md

WHOLE = b"""---
name: pdf-processing
description: >
  Extracts text: and tables.
  Use it for PDFs.
license: Apache-2.0
compatibility: Requires Python 3.14+ and uv
metadata:
  author: example-org
  version: 1.0
allowed-tools: Bash(git add *) Bash(jq:*) Read
---
# Steps
---
The end.
"""


def test_all_that_the_specification_has_is_read() -> None:
    file = read_skill_file(WHOLE)
    assert (file.name, file.description) == ("pdf-processing", "Extracts text: and tables. Use it for PDFs.")
    assert (file.license, file.compatibility) == ("Apache-2.0", "Requires Python 3.14+ and uv")
    assert file.metadata == {"author": "example-org", "version": "1.0"}
    assert file.allowed_tools == ("Bash(git add *)", "Bash(jq:*)", "Read")
    assert (file.body, file.unknown) == ("# Steps\n---\nThe end.", ())


def test_tools_may_be_a_list_and_unknown_fields_are_told() -> None:
    file = read_skill_file(skill_md(more="allowed-tools:\n  - Bash(git:*)\n  - Read\nmodel: x\ntriggers: [a]\n"))
    assert (file.allowed_tools, file.unknown) == (("Bash(git:*)", "Read"), ("model", "triggers"))


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf---\nname: a\ndescription: d\n---\nbody",
        b"---\r\nname: a\r\ndescription: d\r\n---\r\nbody\r\n",
        b"---\nname: a\ndescription: d\n---\nx\n---\ny",
        b"---\nname: a\ndescription: >\n  one\n  two: three\n---\nb",
        b"\n\n---\nname: a\ndescription: d\n---\nb",
        b"---\nname: a\ndescription: d\n---",
    ],
)
def test_files_as_editors_leave_them_are_read(data: bytes) -> None:
    assert read_skill_file(data).name == "a"


def test_a_rule_in_the_text_stays_there() -> None:
    assert read_front_matter(b"---\nname: a\n---\nx\n---\ny") == ({"name": "a"}, "x\n---\ny")


def test_a_colon_in_a_value_is_no_mapping() -> None:
    file = read_skill_file(b"---\nname: a\ndescription: Use for reviews: standards and style\n---\nbody")
    assert file.description == "Use for reviews: standards and style"


def test_values_are_texts_as_they_are_written() -> None:
    file = read_skill_file(b"---\nname: on\ndescription: 1.0\n---\nb")
    assert (file.name, file.description) == ("on", "1.0")


BOMB = b"---\na: &a [x,x]\nb: &b [*a,*a]\nname: z\ndescription: d\n---\nb"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"---\nname: a\ndescription: d\nbody", "has no end"),
        (b"", "no front matter"),
        (b"# Skill", "no front matter"),
        (b"---\nname: a\nname: b\ndescription: d\n---\nb", "has 'name' twice"),
        (base64.b64decode("LS0tCm5hbWU6IGEKZGVzY3JpcHRpb246IGNhZukKLS0tCmI="), "not UTF-8"),
        (b"---\nname: !!python/object/apply:os.system ['id']\ndescription: d\n---\nb", "tags"),
        (BOMB, "aliases"),
        (b"---\nname: a\ndescription: " + b"d" * 1_000_000 + b"\n---\nb", "16384 are the limit"),
        (b"---\n" + b"[" * 9000 + b"\n---\nb", "8 lists and mappings deep"),
        (b"---\na: [b\n---\nb", "no YAML"),
        (b"---\n- a\n---\n", "no list of fields"),
        (b"---\nname: [a]\ndescription: d\n---\n", "name is a text"),
        (b"---\nname: a\n---\n", "has no description"),
        (b"---\ndescription: a\n---\n", "has no name"),
        (b"---\nname: a\ndescription:\n---\n", "description has 0 characters"),
        (skill_md(description="d" * 1025), "description has 1025 characters"),
        (skill_md(more=f"compatibility: {'c' * 501}\n"), "compatibility has 501"),
        (skill_md(more="metadata: text\n"), "metadata is a mapping"),
        (skill_md(more="metadata: {a: [b]}\n"), "metadata is a mapping"),
        (skill_md(more="allowed-tools: {a: b}\n"), "allowed-tools is a text"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, said: str) -> None:
    began = time.monotonic()
    with pytest.raises(InvalidRequest, match=said):
        read_skill_file(data)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "name",
    ["PDF-Processing", "-pdf", "pdf-", "pdf--x", "../../other", "a/b", "''", ".", "Ω", '"good-skill\\nx"', "a" * 65],
)
def test_names_are_those_of_the_specification(name: str) -> None:
    with pytest.raises(InvalidRequest, match="hyphens between them are"):
        read_skill_file(skill_md(name))


def test_a_description_is_one_line_that_can_be_seen() -> None:
    file = read_skill_file(b'---\nname: a\ndescription: "one\\n- two\\u202e\\u200bthree\\x1b[0m"\n---\n')
    assert file.description == "one - two three [0m"
