"""Server-sent events, incrementally: bytes cut anywhere in, payloads of `data:` fields out. No I/O."""

_BOM = b"\xef\xbb\xbf"
_FIRST = b"data: "
_BETWEEN = b"\n\ndata: "


class SseParser:
    """Parses one event stream (https://html.spec.whatwg.org/multipage/server-sent-events.html).

    Only `data` matters to the formats that are spoken here: other fields, comments and events without data are skipped.
    """

    __slots__ = ("_data", "_held", "_skip_lf", "_started")

    def __init__(self) -> None:
        self._held: list[bytes] = []  # pieces of a line that is not over yet
        self._data: list[bytes] = []  # data lines of an event that is not over yet
        self._skip_lf = False
        self._started = False

    def feed(self, data: bytes) -> list[bytes]:
        """Return the payloads that these bytes complete; several data lines of one event are joined by LF."""
        if b"\r" in data or self._skip_lf or not self._started:
            return self._any(data)
        if b"\n" not in data:
            self._held.append(data)
            return []
        if self._held:
            self._held.append(data)
            data = b"".join(self._held)
            self._held.clear()
        return self._lf(data)

    def end(self) -> list[bytes]:
        """The stream is over: return the payload that had no blank line after it, if there is one."""
        if not self._started:
            self._held = [b"".join(self._held).removeprefix(_BOM)]
        return self._lines([b"".join(self._held), b"", b""])

    def _any(self, data: bytes) -> list[bytes]:
        """The way for streams with CR in them, and for the first bytes, which may be a byte order mark."""
        if self._skip_lf and data:
            self._skip_lf = False
            data = data.removeprefix(b"\n")
        data = b"".join((*self._held, data))
        self._held.clear()
        if not self._started:
            if len(data) < len(_BOM) and _BOM.startswith(data):
                self._held.append(data)
                return []
            self._started = True
            data = data.removeprefix(_BOM)
        self._skip_lf = data.endswith(b"\r")
        return self._lf(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data)

    def _lf(self, data: bytes) -> list[bytes]:
        if self._data or not data.startswith(_FIRST):
            return self._lines(data.split(b"\n"))
        if data.find(b"\n") == len(data) - 2 and data.endswith(b"\n\n"):  # one event: what most reads are
            return [data[len(_FIRST) : -2]]
        payloads = data[len(_FIRST) :].split(_BETWEEN)
        breaks, last = data.count(b"\n"), payloads[-1]
        if breaks == 2 * len(payloads) and last.endswith(b"\n\n"):  # nothing but whole one-line events
            payloads[-1] = last[:-2]
            return payloads
        if breaks == 2 * len(payloads) - 2:  # the same, and the beginning of one more
            self._held.append(_FIRST + payloads.pop())
            return payloads
        return self._lines(data.split(b"\n"))

    def _lines(self, lines: list[bytes]) -> list[bytes]:
        self._held = [rest] if (rest := lines.pop()) else []
        payloads: list[bytes] = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[6:] if line.startswith(_FIRST) else line[5:])
            elif line == b"data":
                self._data.append(b"")
            elif not line and self._data:
                payloads.append(b"\n".join(self._data))
                self._data.clear()
        return payloads
