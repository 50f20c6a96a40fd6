"""What a format makes of a notice, and how it reads the answer."""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import msgspec

from talaria.notify.notice import Notice
from talaria.notify.target import Target

JSON = ("Content-Type", "application/json; charset=utf-8")


class Post(NamedTuple):
    """A request to be sent."""

    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Format(NamedTuple):
    """A way to tell of something.

    `make` is given the time in ms. `code`: what must be 0 in the JSON of a 2xx answer, or it is a refusal all the same.
    `spacing`: seconds between two posts that keep to the receiver's rate limit; 0: several at a time.
    """

    make: Callable[[Target, Notice, int], Post]
    code: str = ""
    spacing: float = 0.0


def json_post(url: str, document: dict[str, Any]) -> Post:
    """A request with a JSON body."""
    return Post(url, (JSON,), msgspec.json.encode(document))


def code_refusal(body: bytes, name: str) -> str:
    """Why an answer is a refusal whose body has to say 0 under `name`, or "". Its own words may hold keys."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError):
        return "no JSON"
    code = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return "" if code == 0 else f"{name} {str(code)[:20]}"


_NEUTRAL = str.maketrans("<>[]`", "＜＞［］'")


def plain(text: str) -> str:
    """A text for a Markdown that knows no escapes: nothing in it becomes a link, a picture, a mention or a tag."""
    return text.translate(_NEUTRAL)
