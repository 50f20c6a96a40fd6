"""What a request to one of the demo's services asks for: a range of time, filters, a page."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

_RANGE = ("from", "to")


class QueryError(ValueError):
    """A request that cannot be answered; the message says what to change."""


class Query(msgspec.Struct, frozen=True, gc=False):
    """`start` counts, `end` does not. `filters`: what fields of a record must be."""

    start: datetime
    end: datetime
    page: int
    filters: dict[str, str]


def read_query(given: Mapping[str, str], fields: tuple[str, ...]) -> Query:
    """Read the parameters of a request: from, to, page, and any of `fields`.

    Raises:
        QueryError: a parameter is missing, unknown, or not what it should be.
    """
    unknown = set(given) - {*_RANGE, "page", *fields}
    if unknown:
        raise QueryError(f"there is no parameter '{min(unknown)}'; there are from, to, page, {', '.join(fields)}")
    start, end = (_moment(given, name) for name in _RANGE)
    if start >= end:
        raise QueryError("'from' must be earlier than 'to'")
    return Query(start, end, _page(given.get("page", "1")), {name: given[name] for name in fields if name in given})


def _moment(given: Mapping[str, str], name: str) -> datetime:
    text = given.get(name, "")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise QueryError(f"'{name}' must be a time such as 2026-11-29T00:00:00+08:00, not '{text[:80]}'") from None
    if moment.tzinfo is None:
        raise QueryError(f"'{name}' has no offset; write +08:00, or Z for UTC, behind it")
    return moment


def _page(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise QueryError(f"'page' counts from 1; it is '{text[:80]}'")
    return int(text)
