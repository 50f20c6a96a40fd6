"""Reads docstrings in Google and NumPy style: a tool's description and those of its parameters."""

import inspect
import re
from dataclasses import dataclass

from docstring_parser import Docstring, DocstringStyle, ParseError, parse

_STYLES = (DocstringStyle.GOOGLE, DocstringStyle.NUMPYDOC)


@dataclass(frozen=True, slots=True)
class Documentation:
    """`description` is the first paragraph on one line, `parameters` what is said about each name."""

    description: str
    parameters: dict[str, str]


def read_docstring(text: str | None) -> Documentation:
    """Return what a docstring says; nothing of it is an error."""
    cleaned = inspect.cleandoc(text or "")
    styles = _STYLES if "---" in cleaned else _STYLES[:1]  # NumPy's sections are underlined
    parsed = max(filter(None, (_parse(cleaned, style) for style in styles)), key=_worth, default=None)
    whole = cleaned if parsed is None else parsed.description or ""
    said = {} if parsed is None else {each.arg_name: _line(each.description or "") for each in parsed.params}
    parameters = {name.strip(): text for names, text in said.items() for name in names.split(",")}
    return Documentation(_line(re.split(r"\n\s*\n", whole)[0]), parameters)


def _parse(text: str, style: DocstringStyle) -> Docstring | None:
    try:
        return parse(text, style)
    except ParseError:
        return None


def _worth(parsed: Docstring) -> int:
    return len(parsed.meta)


def _line(text: str) -> str:
    return " ".join(text.split())
