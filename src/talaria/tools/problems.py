"""Says what is wrong with arguments, in words that a model can act on."""

import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from talaria.tools.errors import ArgumentsInvalid
from talaria.tools.nearest import listed

SHOWN = 5
ENOUGH = SHOWN + 1
WIDTH = 60
_REFUSAL = "The arguments for"
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


class Problem(NamedTuple):
    """`path` is dotted (`items[0].price`), "" for the whole; `text` says what came and what is expected."""

    path: str
    text: str


EXPECTED = {"date": "2024-01-31", "date-time": "2024-01-31T13:30:00", "time": "13:30:00"}
"""An example of each format that is checked."""
TOO_DEEP = Problem("", "they are nested too deeply; write a flatter object")


def invalid(tool: str, problems: list[Problem]) -> ArgumentsInvalid:
    """Return the error that says the first problems, a line each."""
    found = problems[:SHOWN]
    lines = [_line(f"- {each.path}: {each.text}" if each.path else f"- {each.text}") for each in found]
    if len(problems) > SHOWN:
        lines.append("- and more")
    message = "\n".join([f"{_REFUSAL} {tool} are not valid; correct them and call it again:", *lines])
    errors = tuple({"field": each.path, "message": each.text} for each in found)
    return ArgumentsInvalid(message, errors)


def is_refusal(text: str) -> bool:
    """Whether the text of a call's result is one of `invalid`."""
    return text.startswith(_REFUSAL)


def shortened(value: Any) -> str:
    """Return a JSON value as text of at most `WIDTH` characters."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (RecursionError, TypeError, ValueError):
        text = type(value).__name__
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


def _line(text: str) -> str:
    """Return a text on one line."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def excerpt(text: str) -> str:
    """Return what came, on one line: all of it, or its beginning and its end."""
    shown = text if len(text) <= 3 * WIDTH else f"{text[:WIDTH]} … {text[-WIDTH:]}"
    return f"«{_line(shown)}»"


def wanted_fields(schema: dict[str, Any]) -> str:
    """Return what to write for a schema of type object."""
    names: dict[str, Any] = schema.get("properties", {})
    if not names:
        return "write one JSON object"
    required = [name for name in names if name in schema.get("required", ())]
    needed = f", of which {listed(required)} must be there" if required else ""
    return f"write one JSON object; its fields are {listed(names)}{needed}"


def listed_values(values: Iterable[Any]) -> str:
    """Return JSON values joined by "or", shortened."""
    return " or ".join(map(shortened, values))


def from_binding(error: ValueError) -> list[Problem]:
    """Return what pydantic found wrong."""
    details: list[dict[str, Any]] = getattr(error, "errors", list)()
    if not details:
        return [Problem("", str(error))]
    return [Problem(dotted(each["loc"]), f"{each['msg']}, got {shortened(each.get('input'))}") for each in details]


def dotted(parts: Iterable[str | int]) -> str:
    """Return a path as people write it: `items[0].price`."""
    path = ""
    for part in parts:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path if len(path) <= WIDTH else path[: WIDTH - 1] + "…"
