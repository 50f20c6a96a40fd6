"""Reads the date with which a text begins; which day is meant must be in no doubt."""

import re
from datetime import date

from talaria.tools.coercion.clock import Unclear

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_SHORT = {name[:3]: number for number, name in enumerate(_MONTHS, 1)} | {"sept": 9}
_NAMES = _SHORT | {name: number for number, name in enumerate(_MONTHS, 1)}
_MONTH = rf"(?P<name>{'|'.join(sorted(_NAMES, key=len, reverse=True))})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR_FIRST = (
    r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?!\d)",
    r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)(?!\d)",
    r"(?P<year>\d{4}) ?年 ?(?P<month>\d{1,2}) ?月 ?(?P<day>\d{1,2}) ?[日号號]",
)
_NAMED = (
    rf"{_DAY}(?: of)?[ -]{_MONTH},?[ -](?P<year>\d{{4}})(?!\d)",
    rf"{_MONTH} {_DAY},? (?P<year>\d{{4}})(?!\d)",
)
_FORMS = tuple(re.compile(form, re.ASCII) for form in (*_YEAR_FIRST, *_NAMED))
_YEAR_LAST = re.compile(r"(?P<one>\d{1,2})(?P<mark>[-/.])(?P<two>\d{1,2})(?P=mark)(?P<year>\d{4})(?!\d)", re.ASCII)
_SHORT_YEAR = re.compile(r"\d{1,2}[-/.]\d{1,2}[-/.]\d{2}(?!\d)", re.ASCII)


def read_day(text: str) -> tuple[date, str]:
    """Return the date at the beginning of a text in lower case, and the rest of the text.

    Raises:
        Unclear: there is none, it does not exist, or it could be two.
    """
    for form in _FORMS:
        found = form.match(text)
        if found is not None:
            parts = found.groupdict()
            month = _NAMES[parts["name"]] if "name" in parts else int(parts["month"])
            return _date(int(parts["year"]), month, int(parts["day"])), text[found.end() :]
    found = _YEAR_LAST.match(text)
    if found is not None:
        return _year_last(*(int(found[name]) for name in ("one", "two", "year"))), text[found.end() :]
    if _SHORT_YEAR.match(text):
        raise Unclear("write the year with four digits, first")
    raise Unclear("this is no date")


def _year_last(one: int, two: int, year: int) -> date:
    """Day and month may stand in either order: only where one order is possible is it clear."""
    possible = sorted({day for day in (_maybe(year, one, two), _maybe(year, two, one)) if day is not None})
    if not possible:
        raise Unclear(f"there is no such day in {year}")
    if len(possible) > 1:
        raise Unclear(f"it could be {possible[0]} or {possible[1]}; write the one that is meant")
    return possible[0]


def _maybe(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _date(year: int, month: int, day: int) -> date:
    found = _maybe(year, month, day)
    if found is None:
        raise Unclear(f"there is no day {year:04}-{month:02}-{day:02}")
    return found
