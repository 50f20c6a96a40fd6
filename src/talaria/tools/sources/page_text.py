"""What a model is shown of an HTTP answer."""

import re

from talaria.fetch import Page

_TEXT = re.compile(r"(text/.*|application/(.*[+])?(json|xml|yaml|javascript|x-www-form-urlencoded|x-ndjson).*)?")
_CHARSET = re.compile(r"charset=[\"']?([\w.:-]+)", re.ASCII)


def page_text(page: Page) -> str:
    """The body as text, or words for one that is none."""
    kind = page.header("content-type").lower()
    if _TEXT.fullmatch(kind.partition(";")[0].strip()) is None:
        return f"[{kind.partition(';')[0].strip()}, {len(page.body)} bytes: not text]"
    found = _CHARSET.search(kind)
    try:
        return page.body.decode(found[1] if found else "utf-8", "replace")
    except LookupError:  # a charset that nobody knows
        return page.body.decode("utf-8", "replace")
