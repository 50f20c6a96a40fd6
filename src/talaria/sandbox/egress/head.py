"""The beginning of a request to the proxy: where it wants to go, and what is passed on there."""

from dataclasses import dataclass
from urllib.parse import urlsplit

_TOKENS = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_HOP = frozenset({"connection", "proxy-connection", "proxy-authorization", "keep-alive", "te", "trailer", "upgrade"})


class BadRequest(Exception):
    """What came is no request that the proxy can pass on: the status for it, and words."""

    def __init__(self, status: str, words: str) -> None:
        super().__init__(words)
        self.status = status
        self.words = words


@dataclass(frozen=True, slots=True)
class Head:
    """Where to. `tunnel`: bytes go both ways from here on. Else the host gets `passed` and `body` bytes after it."""

    host: str
    port: int
    tunnel: bool
    passed: bytes = b""
    body: int = 0


def parse(head: bytes) -> Head:
    """Read the lines before the empty one.

    Raises:
        BadRequest: they are none of a request to a proxy.
    """
    try:
        first, *lines = head.decode("ascii").split("\r\n")
    except UnicodeDecodeError:
        raise BadRequest("400 Bad Request", "The request has letters that it may not have.") from None
    match first.split(" "):
        case ["CONNECT", target, version] if version.startswith("HTTP/1."):
            host, port = _target(target, None)
            return Head(host, port, tunnel=True)
        case [method, url, version] if version.startswith("HTTP/1.") and set(method) <= _TOKENS:
            return _absolute(method, url, lines)
        case _:
            raise BadRequest("400 Bad Request", "This is no request to a proxy.")


def _absolute(method: str, url: str, lines: list[str]) -> Head:
    scheme, _, rest = url.partition("://")
    if scheme.lower() != "http" or not rest:
        raise BadRequest("400 Bad Request", "Only http:// is passed on; for https:// use CONNECT.")
    try:
        split = urlsplit("http://" + rest)
    except ValueError:
        raise BadRequest("400 Bad Request", "The request has no good address.") from None
    host, port = _target(split.netloc, 80)
    fields = _fields(lines)
    path = (split.path or "/") + (f"?{split.query}" if split.query else "")
    passed = [f"{method} {path} HTTP/1.1", f"Host: {split.netloc}"]
    passed += [f"{name}: {value}" for name, value in fields if name.lower() not in _HOP and name.lower() != "host"]
    return Head(host, port, False, "\r\n".join([*passed, "Connection: close", "", ""]).encode("ascii"), _body(fields))


def _fields(lines: list[str]) -> list[tuple[str, str]]:
    fields: list[tuple[str, str]] = []
    for line in lines:
        name, found, value = line.partition(":")
        if (
            not found
            or not name
            or not set(name) <= _TOKENS
            or any(letter < " " and letter != "\t" for letter in value)
        ):
            raise BadRequest("400 Bad Request", "The request has a line that is no header.")
        fields.append((name, value.strip()))
    return fields


def _body(fields: list[tuple[str, str]]) -> int:
    if any(name.lower() == "transfer-encoding" for name, _ in fields):
        raise BadRequest("411 Length Required", "Say Content-Length, or use https.")
    lengths = {value for name, value in fields if name.lower() == "content-length"}
    if not lengths:
        return 0
    length = lengths.pop()
    if lengths or not (length.isdecimal() and len(length) < 16):
        raise BadRequest("400 Bad Request", "Content-Length is no length.")
    return int(length)


def _target(text: str, port: int | None) -> tuple[str, int]:
    host, found, digits = text.rpartition(":")
    if not found or text.endswith("]"):
        host, digits = text, "" if port is None else str(port)
    if not host or "@" in host or not (digits.isdecimal() and len(digits) < 6 and 0 < int(digits) < 65536):
        raise BadRequest("400 Bad Request", "The request names no host and port.")
    return host, int(digits)
