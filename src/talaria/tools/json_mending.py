"""Makes strict JSON of what models write for it, where the meaning is in no doubt; never adds a closing bracket."""

import json
import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<plain>(?:[ \t\r\n:]+ | ,(?![ \t\r\n]*[}\]]) | "[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"
                   | [-+.\d][-+.\w]* | (?:true|false|null)\b)+)
      | (?P<string>"[^"\\]*(?:\\.[^"\\]*)*")
      | (?P<quoted>'[^'\\\r\n]*(?:\\.[^'\\\r\n]*)*')
      | (?P<open>[{\[][ \t\r\n]*) | (?P<close>[}\]]) | (?P<trailing>,)
      | (?P<word>[A-Za-z_$][\w$]*)""",
    re.VERBOSE,
)
"""`plain` is whatever may stay as it is: spaces, colons, commas, numbers, literals, and text that JSON takes."""
_UNENDED = re.compile(r""""[^"\\]*(?:\\.[^"\\]*)*\\?\Z|'[^'\\\r\n]*(?:\\.[^'\\\r\n]*)*\\?\Z""")
_QUOTED_PART = re.compile(r"\\(?P<escaped>.)|(?P<quote>\")")
_CONTROL = re.compile(r"[\x00-\x1f]")
_FENCE = re.compile(r"```[\w-]*")
_NO_WORDS = frozenset('{}[]()<>"`=|\\')
_WORDS = {"True": "true", "False": "false", "None": "null"}
CUT_OFF = "the text is cut off before its end, nothing of it was run; write the whole call again, shorter if it is long"


class Unreadable(ValueError):
    """Text of which no JSON can be made without guessing; says why, to a model."""


class Token(NamedTuple):
    """A piece of JSON text, `at` characters from the beginning."""

    kind: str
    text: str
    at: int


def mend(text: str, start: int) -> tuple[str, list[str]]:
    """Return the object or list that begins at `start` as strict JSON, and what was repaired.

    Only words and fences may stand around it. The caller's strict parser still has to agree with the result.

    Raises:
        Unreadable: it is cut off, or what is meant is in doubt.
    """
    tokens = _tokens(text, start)
    repairs: dict[str, None] = {}
    _look_around(text[:start], text[tokens[-1].at + 1 :], repairs)
    body = "".join([_strict(token, repairs) for token in tokens])
    return body, list(repairs)


def _tokens(text: str, start: int) -> list[Token]:
    """Return the tokens from an opening bracket to the one that closes it."""
    tokens: list[Token] = []
    depth, at = 0, start
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            raise Unreadable(CUT_OFF if _UNENDED.match(text, at) else _unexpected(text[at], at))
        kind, said = found.lastgroup, found[0]
        if kind == "word" and said not in _WORDS:
            raise Unreadable(CUT_OFF if found.end() == len(text) else _unexpected(said[:20], at))
        if kind == "trailing" and tokens[-1].kind == "open":
            raise Unreadable(_unexpected(said, at))
        tokens.append(Token(kind, said, at))
        depth += (kind == "open") - (kind == "close")
        if depth == 0:
            return tokens
        at = found.end()
    raise Unreadable(CUT_OFF)


def _unexpected(what: str, at: int) -> str:
    return f"this is not JSON: unexpected {what!r} at character {at}; names and text stand in double quotes"


def _look_around(before: str, after: str, repairs: dict[str, None]) -> None:
    for around in (before, after):
        bare = _FENCE.sub("", around)
        if len(bare) < len(around):
            repairs["Markdown fence"] = None
        words = bare.strip()
        if words and (_NO_WORDS.intersection(words) or not any(map(str.isalpha, words))):
            raise Unreadable("there is more than one JSON object, or something beside it; write exactly one object")
        if words:
            repairs["text around the object"] = None


def _strict(token: Token, repairs: dict[str, None]) -> str:
    match token.kind:
        case "plain" | "open" | "close":
            return token.text
        case "trailing":
            repairs["trailing comma"] = None
            return ""
        case "word":
            repairs["Python literal"] = None
            return _WORDS[token.text]
        case "quoted":
            repairs["single quotes"] = None
            inner = token.text[1:-1]
            if "\\" in inner or '"' in inner:
                inner = _QUOTED_PART.sub(_double_quoted, inner)
            return '"' + _escaped(inner, repairs) + '"'
        case _:
            return _escaped(token.text, repairs)


def _double_quoted(part: re.Match[str]) -> str:
    if part["quote"]:
        return '\\"'
    return "'" if part["escaped"] == "'" else part[0]


def _escaped(text: str, repairs: dict[str, None]) -> str:
    if _CONTROL.search(text) is None:
        return text
    repairs["control character in a string"] = None
    return _CONTROL.sub(lambda found: json.dumps(found[0])[1:-1], text)
