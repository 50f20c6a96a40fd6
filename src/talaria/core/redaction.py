"""Masking secrets in text, in every form in which they tend to come back."""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from html import escape
from traceback import format_exception
from urllib.parse import quote, quote_plus

MASK = "[masked]"
SHORTEST = 6
_SCHEME = re.compile(r"^(?:Bearer|Basic|Token|ApiKey) +", re.IGNORECASE)
"""Before the secret in a header's value (RFC 9110): it may come back without."""


def _forms(secret: str) -> Iterable[str]:
    for form in _written(secret):
        yield form
        for ascii_only in (True, False):
            quoted = json.dumps(form, ensure_ascii=ascii_only)[1:-1]  # whatever it is, results and events are JSON
            yield quoted
            yield quoted.replace("/", "\\/")  # as PHP writes it
    for offset in range(3):  # base64 of a text that holds the secret: three alignments
        padded = base64.b64encode(b"\0" * offset + secret.encode()).decode().rstrip("=")
        form = padded[(0, 2, 3)[offset] : -1]
        yield form
        yield form.replace("+", "-").replace("/", "_")  # the alphabet of URLs
    yield secret.encode().hex()


def _written(secret: str) -> Iterable[str]:
    """The secret as it is, and as URLs, Python, HTML and JSON write it."""
    yield secret
    yield quote(secret, safe="")
    yield quote(secret)
    yield quote_plus(secret)
    yield repr(secret)[1:-1]
    yield escape(secret)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]


def too_short(secrets: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of secrets whose values are too short to be masked."""
    return tuple(name for name, value in secrets.items() if 0 < len(value) < SHORTEST)


class Redactor:
    """Replaces known secret values by a mask. Values shorter than 6 characters cannot be masked; see `too_short`."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        written = [*secrets.values(), *(_SCHEME.sub("", value, 1) for value in secrets.values())]
        values = [value for value in dict.fromkeys(written) if len(value) >= SHORTEST]
        forms = {form for value in values for form in _forms(value) if len(form) >= SHORTEST}
        ordered = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, ordered)), re.IGNORECASE) if ordered else None
        self.longest = max(map(len, ordered), default=0)

    def __bool__(self) -> bool:
        return self._pattern is not None

    def split(self, text: str) -> tuple[str, str]:
        """Return what of a text that goes on can be said, masked, and the rest, which may be half a secret."""
        if self._pattern is None:
            return text, ""
        cut = max(0, len(text) - self.longest + 1)
        for found in self._pattern.finditer(text):  # what begins before the cut is all there, and is what it is
            if found.start() >= cut:
                break
            cut = max(cut, found.end())
        return self.mask(text[:cut]), text[cut:]

    def mask(self, text: str) -> str:
        """Return `text` with every form of every secret replaced."""
        return self._pattern.sub(MASK, text) if self._pattern is not None else text

    def traceback(self, error: BaseException) -> str:
        """Return where an error was raised and what it says, masked, for the log."""
        return self.mask("".join(format_exception(error)))
