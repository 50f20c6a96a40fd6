"""The body of a reply: an event stream, JSON lines, or what came instead (one JSON document, a web page)."""

from talaria.models.calls import is_object
from talaria.models.sse import SseParser

_BOM = b"\xef\xbb\xbf"


class ReplyBody:
    """Finds out what a body is from its first bytes, and yields the payloads in it.

    JSON lines are payloads as they come: a body whose first line is a whole JSON object, with more after it.
    """

    __slots__ = ("_feed", "_head", "_pieces", "_sse", "feed", "is_document", "is_page")

    def __init__(self) -> None:
        self._sse = SseParser()
        self._head = b""
        self._pieces: list[bytes] = []
        self.is_document = False
        self.is_page = False
        self.feed = self._first

    def end(self) -> list[bytes]:
        """The body is over: return the payloads that nothing had ended, or all of a document."""
        if self.is_page:
            return []
        if not self.is_document:
            return [*self._sse.feed(self._head), *self._sse.end()]
        rest = b"".join(self._pieces).strip()
        return [rest] if rest else []

    def excerpt(self) -> str:
        """The beginning of what came instead of an event stream, for the operator."""
        return b"".join(self._pieces)[:1_000].decode("utf-8", "replace")

    def _first(self, data: bytes) -> list[bytes]:
        head = self._head + data
        start = head.removeprefix(_BOM).lstrip()[:1]
        if not start or _BOM.startswith(head):
            self._head = head
            return []
        self._head = b""
        if start in b"{[<":
            self.is_document, self.is_page = start != b"<", start == b"<"
            self.feed = self._keep if self.is_page else self._first_line
            return self.feed(head.removeprefix(_BOM).lstrip())
        self.feed = self._sse.feed
        return self.feed(head)

    def _first_line(self, data: bytes) -> list[bytes]:
        self._pieces.append(data)
        if b"\n" not in data:
            return []
        line = b"".join(self._pieces).partition(b"\n")[0]
        self.feed = self._lines if is_object(line.decode("utf-8", "replace")) else self._keep
        return self._lines(b"") if self.feed == self._lines else []

    def _lines(self, data: bytes) -> list[bytes]:
        self._pieces.append(data)
        if data and b"\n" not in data:
            return []
        lines = b"".join(self._pieces).split(b"\n")
        self._pieces = [lines.pop()]
        return [line for line in lines if line.strip()]

    def _keep(self, data: bytes) -> list[bytes]:
        self._pieces.append(data)
        return []
