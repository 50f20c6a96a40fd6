"""Redirects: what is asked next. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from talaria.core.errors import FetchFailed, FetchRefused
from talaria.fetch.url import Url, read_url

Headers = Sequence[tuple[str, str]]
STATUS = (301, 302, 303, 307, 308)
_PUBLIC = ("accept", "accept-language", "user-agent", "range", "if-none-match", "if-modified-since")
"""What another origin may see. The rest may be a secret, under whatever name."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request."""

    url: Url
    method: str = "GET"
    headers: Headers = ()
    body: bytes | None = None


def redirected(call: Call, status: int, location: str | None) -> Call:
    """Return the request after a redirect, as a browser makes it; another origin gets no body and no secrets.

    Raises:
        FetchFailed: the redirect says no place, or one that is not gone to.
    """
    if not location:
        raise FetchFailed(f"{call.url.origin} redirects without saying where to")
    try:
        url = read_url(location, call.url)
    except FetchRefused as error:
        raise FetchRefused(f"{call.url.origin} redirects, but {error.message}") from None
    if call.url.scheme == "https" and url.scheme == "http":
        raise FetchRefused(f"{call.url.origin} redirects from https to http")
    if status == 303 or (status in (301, 302) and call.method == "POST"):
        kept = [each for each in call.headers if not each[0].lower().startswith("content-")]
        call = replace(call, method="HEAD" if call.method == "HEAD" else "GET", headers=kept, body=None)
    if url.origin == call.url.origin:
        return replace(call, url=url)
    if call.method not in ("GET", "HEAD"):
        raise FetchRefused(f"{call.url.origin} redirects a {call.method} to another origin, {url.origin}")
    return replace(call, url=url, body=None, headers=[each for each in call.headers if each[0].lower() in _PUBLIC])
