"""Names that somebody may have meant, and how they are said in an error."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

SHOWN = 20
_CALLED = re.compile(
    r"""[\s`'"]*(?:(?:functions?|tools?|default_api)[.:/])?([\w -]+?)(?:\(\)|:\d+|<\|.*)?[\s`'"]*""",
    re.DOTALL | re.IGNORECASE,
)
"""A name as models write it: in quotes, in a namespace that prompts' templates have, numbered, with special tokens."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like `name`, letter case aside, or None when none is like it."""
    folded = {each.casefold(): each for each in known}
    found = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def meant(name: str, known: Iterable[str]) -> str | None:
    """Return the one known name that `name` can only be another spelling of, or None: nothing is guessed."""
    found = _CALLED.fullmatch(name[:200])
    wanted = None if found is None else _loosely(found[1])
    same = [each for each in known if _loosely(each) == wanted]
    return same[0] if len(same) == 1 else None


def _loosely(name: str) -> str:
    return name.casefold().replace("-", "_").replace(" ", "_")


def listed(names: Iterable[str]) -> str:
    """Return names quoted and joined by commas, at most `SHOWN` of them and a count of the rest."""
    every = list(names)
    rest = len(every) - SHOWN
    return ", ".join(f"'{name}'" for name in every[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def hint(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" where something is like `name`, else ""."""
    found = nearest(name, known)
    return f"; did you mean '{found}'?" if found is not None else ""


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the hint, or what there is where nothing is like `name`."""
    names = list(known)
    return hint(name, names) or f"; there are {listed(names) or 'none'}"
