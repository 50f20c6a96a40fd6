"""Reads SKILL.md: https://agentskills.io/specification. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from talaria.core.errors import InvalidRequest
from talaria.core.front_matter import read_front_matter
from talaria.core.skills import is_name

FILE = "SKILL.md"
LONGEST_DESCRIPTION = 1024
LONGEST_COMPATIBILITY = 500
LARGEST = 1024 * 1024
"""Bytes of SKILL.md."""


@dataclass(frozen=True, slots=True)
class SkillFile:
    """What a SKILL.md says. `unknown`: fields that the specification does not have."""

    name: str
    description: str
    body: str
    license: str = ""
    compatibility: str = ""
    metadata: dict[str, str] = field(default_factory=dict[str, str])
    allowed_tools: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def read_skill_file(data: bytes) -> SkillFile:
    """Return what a SKILL.md says.

    Raises:
        InvalidRequest: it breaks the specification; the message says how.
    """
    if len(data) > LARGEST:
        raise InvalidRequest(f"{FILE} has {len(data)} bytes; {LARGEST} are the limit")
    fields, body = read_front_matter(data)
    known: dict[str, Callable[[Any], Any]] = {
        "name": _name,
        "description": lambda value: _line("description", value, LONGEST_DESCRIPTION),
        "license": lambda value: _text("license", value),
        "compatibility": lambda value: _line("compatibility", value, LONGEST_COMPATIBILITY),
        "metadata": _metadata,
        "allowed-tools": _tools,
    }
    for needed in ("name", "description"):
        if needed not in fields:
            raise InvalidRequest(f"{FILE} has no {needed}; its front matter must say one")
    read = {name.replace("-", "_"): of(fields[name]) for name, of in known.items() if name in fields}
    return SkillFile(body=body.strip(), unknown=tuple(sorted(set(fields) - set(known))), **read)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidRequest(f"{name} is a text")
    return value.strip()


def _name(value: Any) -> str:
    name = _text("name", value)
    if not is_name(name):
        raise InvalidRequest(
            f"name {name[:80]!r}: 1 to 64 small letters a-z, digits and single hyphens between them are a skill's name"
        )
    return name


def _line(name: str, value: Any, longest: int) -> str:
    """A text that goes where one line has its place: whatever moves a line, or cannot be seen, is a space."""
    text = _text(name, value)
    if not 1 <= len(text) <= longest:
        raise InvalidRequest(f"{name} has {len(text)} characters; it has 1 to {longest}")
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def _metadata(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in cast("dict[str, Any]", value).values()):
        raise InvalidRequest("metadata is a mapping of texts to texts")
    return cast("dict[str, str]", value)


def _tools(value: Any) -> tuple[str, ...]:
    """A text with spaces between the tools, which may have spaces in brackets, or a list of texts."""
    if isinstance(value, str):
        return tuple(_split(value))
    if isinstance(value, list) and all(isinstance(each, str) for each in cast("list[Any]", value)):
        return tuple(each.strip() for each in cast("list[str]", value) if each.strip())
    raise InvalidRequest("allowed-tools is a text with spaces between the tools, or a list of texts")


def _split(text: str) -> list[str]:
    found, depth = [""], 0
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth <= 0 and (char.isspace() or char == ","):
            found.append("")
        else:
            found[-1] += char
    return [each for each in found if each]
