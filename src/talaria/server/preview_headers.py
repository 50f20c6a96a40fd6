"""What headers pass into a preview and out of it, and what every page of one is told: it is nobody's page.

Both lists name what may pass. Credentials of whoever asks never come in, whatever a proxy calls them; nothing that acts
on more than the one answer (cookies, caches, service workers, what a reverse proxy obeys) ever comes out.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

Headers = list[tuple[bytes, bytes]]

INWARD = frozenset(
    b"accept accept-encoding accept-language cache-control content-language content-length content-type if-match "
    b"if-modified-since if-none-match if-range if-unmodified-since pragma range transfer-encoding user-agent "
    b"x-requested-with".split()
)
OUTWARD = frozenset(
    b"accept-ranges allow content-disposition content-encoding content-language content-length content-range "
    b"content-type etag last-modified retry-after vary".split()
)
POLICY = (
    b"sandbox allow-downloads allow-forms allow-modals allow-pointer-lock allow-popups allow-scripts; "
    b"frame-ancestors 'self'"
)
"""Without allow-same-origin: the page has an origin of its own, that of nothing else."""
FIXED: Headers = [
    (b"content-security-policy", POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-robots-tag", b"noindex, nofollow"),
    (b"cache-control", b"no-store"),
    # The page's own requests come from an origin that is not this server's. Who has the link may read what is there.
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"*"),
    (b"cross-origin-resource-policy", b"cross-origin"),
]
PREFLIGHT: Headers = [
    *FIXED,
    (b"access-control-allow-methods", b"*"),
    (b"access-control-allow-headers", b"*"),
    (b"access-control-max-age", b"600"),
]
INSIDE = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104 - what servers call themselves


def inward(headers: Iterable[tuple[bytes, bytes]], port: int) -> Headers:
    """The headers of a request, as the server inside gets them. Where it is shown is not its business."""
    passed = [(name, value) for name, value in headers if name.lower() in INWARD]
    return [(b"host", b"localhost:%d" % port), *passed, (b"connection", b"close")]


def outward(headers: Iterable[tuple[bytes, bytes]], inner_path: str) -> Headers:
    """The headers of an answer from inside to a request for `inner_path`, as the browser gets them."""
    passed = [(name, value) for name, value in headers if name.lower() in OUTWARD]
    places = [value.decode("latin-1") for name, value in headers if name.lower() == b"location"]
    moved = [(b"location", place_outside(each, inner_path).encode("latin-1")) for each in places]
    return [*passed, *moved, *FIXED]


def place_outside(location: str, inner_path: str) -> str:
    """Where a redirect leads, seen from outside: what is inside stays below the link, relative to what was asked for.

    Relative, because a proxy in front may have put a path of its own before all of ours.
    """
    try:
        parts = urlsplit(location)
        is_inside = not parts.netloc or parts.hostname in INSIDE
    except ValueError:
        return ""
    if not is_inside or not (parts.netloc or parts.path.startswith("/")):
        return location
    up = "../" * (inner_path.count("/") - 1)
    query = f"?{parts.query}" if parts.query else ""
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    return f"{up or './'}{parts.path[1:]}{query}{fragment}"
