"""The body of a reply: an event stream, or what came instead of one (a JSON document, JSON lines, a web page)."""

from talaria.models.sse import SseParser

_BOM = b"\xef\xbb\xbf"


class ReplyBody:
    """Finds out what a body is from its first bytes, and yields the payloads in it."""

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
        whole = b"".join(self._pieces)
        return [whole] if b"\n{" not in whole.strip() else [line for line in whole.splitlines() if line.strip()]

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
            self.feed = self._keep
            return self._keep(head)
        self.feed = self._sse.feed
        return self.feed(head)

    def _keep(self, data: bytes) -> list[bytes]:
        self._pieces.append(data)
        return []
