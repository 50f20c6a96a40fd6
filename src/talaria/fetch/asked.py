"""What a request may say: methods that ask for something, and headers that are the asker's to choose. Pure."""

import re
from collections.abc import Sequence

from talaria.core.errors import FetchRefused

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
MOST_BYTES = 16_384
"""Of all headers together: servers take little more."""

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_CLIENTS = frozenset(
    (
        *("host", "content-length", "transfer-encoding", "te", "trailer", "connection", "keep-alive", "upgrade"),
        *("http2-settings", "expect", "accept-encoding", "forwarded", "via"),
    )
)
"""The client's own: they say where a request goes, where it ends (RFC 9112), and who has passed it on.

With another Host a server that has many sites answers for one that is not on the list; with another length, a second
request hides in the body of the first.
"""


def check_request(method: str, headers: Sequence[tuple[str, str]]) -> None:
    """Check what a request is to say.

    Raises:
        FetchRefused: its method or one of its headers is not the asker's to choose.
    """
    if method not in METHODS:
        raise FetchRefused(f"{method[:20]!a} is no method that is asked with here; there are {', '.join(METHODS)}")
    for name, value in headers:
        low = name.lower()
        if not _TOKEN.fullmatch(name) or _CONTROL.search(value):
            raise FetchRefused(f"the header {name[:80]!a} has a character that no header may have")
        if low in _CLIENTS or low.startswith(("proxy-", "x-forwarded-")):
            raise FetchRefused(f"the header '{name}' is not for the asker to set; leave it out")
    if sum(len(name) + len(value.encode(errors="replace")) for name, value in headers) > MOST_BYTES:
        raise FetchRefused(f"the headers have more than {MOST_BYTES} bytes")
