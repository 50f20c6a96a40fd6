"""How a diagnosis says figures: seconds, counts, shares, short excerpts."""

LONGEST = 80


def seconds(ms: int) -> str:
    """Return a duration, precise enough for its size."""
    return f"{ms} ms" if ms < 1_000 else f"{ms / 1_000:.1f} s"


def count(number: int, what: str) -> str:
    """Return `1 call`, `1,200 characters`."""
    return f"{number:,} {what}" if number != 1 else f"1 {what.removesuffix('s')}"


def excerpt(text: str, longest: int = LONGEST) -> str:
    """Return a text on one line, cut after so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def names(each: "list[str] | tuple[str, ...]") -> str:
    """Return names in quotes, with commas."""
    return ", ".join(f"'{name}'" for name in each)
