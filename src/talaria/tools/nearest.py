"""Names that somebody may have meant, and how they are said in an error."""

from collections.abc import Iterable
from difflib import get_close_matches

SHOWN = 20


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like `name`, letter case aside, or None when none is like it."""
    folded = {each.casefold(): each for each in known}
    found = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def listed(names: Iterable[str]) -> str:
    """Return names quoted and joined by commas, at most `SHOWN` of them and a count of the rest."""
    every = list(names)
    rest = len(every) - SHOWN
    return ", ".join(f"'{name}'" for name in every[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def hint(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" where something is like `name`, else ""."""
    found = nearest(name, known)
    return f"; did you mean '{found}'?" if found is not None else ""
