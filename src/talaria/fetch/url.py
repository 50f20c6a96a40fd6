"""URLs as they are judged and as they are sent: one value for both, so that no two parsers can disagree. Pure."""

import re
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from talaria.core.errors import FetchRefused
from talaria.fetch.host import read_host

LONGEST = 8192
PORTS = {"http": 80, "https": 443}
_UNSEEN = re.compile(r"[\x00-\x20\x7f-\xa0\xad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\u3000\ufeff\ud800-\udfff]")
_PLACE = re.compile(r"(?P<host>\[[^\]]*\]|[^:\[\]]+)(?::(?P<port>[0-9]{0,5}))?")
_SENT_AS_IS = "/%:@!$&'()*+,;=-._~?"
_BAD_PERCENT = re.compile(r"%(?![0-9a-fA-F]{2})")
_DOTS = {".": ".", "%2e": ".", "..": "..", ".%2e": "..", "%2e.": "..", "%2e%2e": ".."}


@dataclass(frozen=True, slots=True)
class Url:
    """An http or https URL. `host` is normal (an IPv6 address without brackets); `path` has no dot segments."""

    scheme: str
    host: str
    port: int
    path: str
    query: str = ""

    @property
    def origin(self) -> str:
        """Scheme, host and port; the port only where it is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == PORTS[self.scheme] else f":{self.port}")

    def __str__(self) -> str:
        return f"{self.origin}{self.path}" + (f"?{self.query}" if self.query else "")


def read_url(text: str, base: Url | None = None) -> Url:
    """Read a URL, relative to `base` where there is one. Its fragment is dropped.

    Raises:
        FetchRefused: it is not http or https, names a user, holds what cannot be seen, or its host or port is wrong.
    """
    if len(text) > LONGEST:
        raise FetchRefused(f"the URL is longer than {LONGEST} characters")
    if "\\" in text or _UNSEEN.search(text):
        raise FetchRefused("the URL holds a space, a backslash or a character that cannot be seen; write it with %")
    try:
        parts = urlsplit(text if base is None else urljoin(str(base), text))
    except ValueError:
        raise FetchRefused("the URL cannot be read; check its host and port") from None
    if parts.scheme not in PORTS or not parts.netloc:
        raise FetchRefused("the URL must begin with https:// or http:// and a host")
    if "@" in parts.netloc or "%" in parts.netloc:
        raise FetchRefused("the URL holds a user name, a password or % before its path; leave them out")
    place = _PLACE.fullmatch(parts.netloc)
    port = int((place and place["port"]) or PORTS[parts.scheme])
    if place is None or not 0 < port < 65536:
        raise FetchRefused("the URL's host or port cannot be read")
    return Url(parts.scheme, read_host(place["host"]), port, _without_dots(_quoted(parts.path)), _quoted(parts.query))


def _quoted(text: str) -> str:
    return quote(_BAD_PERCENT.sub("%25", text), safe=_SENT_AS_IS)


def _without_dots(path: str) -> str:
    """The path as browsers send it: `.` and `..`, written in whatever way, are gone."""
    kept: list[str] = []
    segments = path.split("/")[1:] or [""]
    for at, segment in enumerate(segments):
        dots = _DOTS.get(segment.lower())
        if dots == ".." and kept:
            kept.pop()
        if dots is None:
            kept.append(segment)
        elif at == len(segments) - 1:
            kept.append("")
    return "/" + "/".join(kept)
