"""Reads a subagent's file: Markdown with front matter."""

import re
from typing import Any, cast

import yaml

from talaria.core.errors import InvalidRequest
from talaria.core.subagents import Subagent

_FENCED = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*$\r?\n?(.*)\Z", re.DOTALL | re.MULTILINE)
_FIELDS = frozenset(("name", "description", "tools", "disallowedTools", "skills", "model", "maxTurns"))
LONGEST = 256 * 1024
"""Characters of a file."""


def read_subagent(text: str) -> tuple[Subagent, tuple[str, ...]]:
    """Return the subagent that a file describes, and the fields in it that nobody knows.

    Raises:
        InvalidRequest: it is none; the message says why.
    """
    if len(text) > LONGEST:
        raise InvalidRequest(f"the file has {len(text)} characters; {LONGEST} are the limit")
    found = _FENCED.match(text)
    if found is None:
        raise InvalidRequest("a subagent's file begins with front matter: '---', fields in YAML, '---'")
    fields = _front_matter(found[1])
    unknown = tuple(sorted(set(fields) - _FIELDS))
    turns = fields.get("maxTurns")
    if turns is not None and (not isinstance(turns, int) or isinstance(turns, bool)):
        raise InvalidRequest("maxTurns is a whole number")
    subagent = Subagent(
        name=_text(fields, "name"),
        description=_text(fields, "description"),
        instructions=found[2].strip(),
        tools=_names(fields, "tools"),
        disallowed=_names(fields, "disallowedTools") or (),
        skills=_names(fields, "skills") or (),
        model="" if fields.get("model") == "inherit" else _text(fields, "model"),
        max_turns=turns,
    )
    return subagent, unknown


def _front_matter(text: str) -> dict[str, Any]:
    try:
        fields = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InvalidRequest(f"the front matter is no YAML: {' '.join(str(error).split())[:200]}") from error
    if not isinstance(fields, dict):
        raise InvalidRequest("the front matter is no list of fields, each `name: value`")
    return {str(name): value for name, value in cast("dict[object, Any]", fields).items()}


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        raise InvalidRequest(f"{name} is a text")
    return str(value).strip()


def _names(fields: dict[str, Any], name: str) -> tuple[str, ...] | None:
    """A list of names, or one text with commas between them."""
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, str):
        return tuple(each for part in value.split(",") if (each := part.strip()))
    if isinstance(value, list) and all(isinstance(each, str) for each in cast("list[object]", value)):
        return tuple(each.strip() for each in cast("list[str]", value) if each.strip())
    raise InvalidRequest(f"{name} is a list of names, or a text with commas between them")
