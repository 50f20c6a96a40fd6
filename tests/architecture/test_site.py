"""The documents as a whole: all of them are in the site, and the messages they quote are those of the code."""

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest
import yaml

import talaria
from tests.fences import fences
from tests.repository import ROOT, SOURCE, python_files, tree

DOCS = ROOT / "docs"
TROUBLE = DOCS / "troubleshooting.md"
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_SAID = re.compile(r"(?!talaria )\S+ \S+ .+|[a-z]+(_[a-z]+)+")


def pages(entries: list[object]) -> Iterator[str]:
    """Yield the files that a navigation names."""
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, list):
            yield from pages(entry)  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(entry, dict):
            yield from pages(list(entry.values()))  # pyright: ignore[reportUnknownArgumentType]


def test_every_document_is_in_the_navigation_once() -> None:
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]
    assert sorted(pages(navigation)) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def test_the_python_reference_has_every_public_name() -> None:
    shown = re.findall(r"^::: talaria\.(\w+)$", (DOCS / "python.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(shown) == sorted(talaria.__all__)


@cache
def sentences() -> str:
    """All texts in the source, a line each, with … for what is filled in."""
    nodes = [node for path in python_files(SOURCE) for node in ast.walk(tree(path))]
    return "\n".join(plain(text) for node in nodes if (text := text_of(node)))


def text_of(node: ast.AST) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(text_of(part) or "…" for part in parts)
        case _:
            return ""


def plain(text: str) -> str:
    return re.sub(r"…+", "…", text)


def quoted() -> list[str]:
    """What the guide quotes: the lines of its text blocks, and code spans of several words or with an underscore."""
    lines = [line for fence in fences(TROUBLE) if fence.language == "text" for line in fence.code.splitlines()]
    spans = _SPAN.findall(_FENCED.sub("", TROUBLE.read_text("utf-8")))
    return list(dict.fromkeys(lines + [span for span in spans if _SAID.fullmatch(span)]))


@pytest.mark.parametrize("message", quoted())
def test_a_message_in_the_guide_is_one_of_the_code(message: str) -> None:
    assert plain(message).strip("…") in sentences()


def test_the_guide_quotes_messages() -> None:
    assert len(quoted()) > 40
