"""A form with one file (multipart/form-data, RFC 7578), read as it comes: no more of it is in memory than one piece."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from talaria.core.errors import InvalidRequest
from talaria.server.problems import Refused

FIELD = "file"
PATIENCE = 30.0
"""Seconds that a client may take for the next piece."""
ALL_PATIENCE = 1800.0
"""Seconds that it may take for all."""
LONGEST_BOUNDARY = 70
"""Characters, as RFC 2046 has it."""
ONE_FILE = f"send one file, as the part '{FIELD}' of a form (multipart/form-data) with a filename"


class Form:
    """The form that a request carries. `begin` first; then the file's bytes, once."""

    def __init__(self, request: Request) -> None:
        self._parts = _Parts(_boundary(request))
        self._body = _pieces(request)

    async def begin(self) -> str:
        """Read up to the file; return its name.

        Raises:
            InvalidRequest: the form has something else.
        """
        while self._parts.name is None:
            if not await self._more():
                raise InvalidRequest(ONE_FILE)
        return self._parts.name

    async def data(self) -> AsyncIterator[bytes]:
        """Yield the file's bytes. They are all there when this ends without an error.

        Raises:
            InvalidRequest: the form is broken, cut off, or goes on with something else.
        """
        async with aclosing(self._body):
            while True:
                while self._parts.waiting:
                    yield self._parts.waiting.popleft()
                if not await self._more():
                    break
        if not self._parts.is_complete:
            raise InvalidRequest("the form ends before its last boundary")

    async def _more(self) -> bool:
        piece = await anext(self._body, None)
        if piece is None:
            return False
        try:
            self._parts.feed(piece)
        except FormParserError as error:
            raise InvalidRequest(f"the body is no valid form: {str(error)[:200]}") from None
        return True


class _Parts:
    """What the parser has found so far."""

    def __init__(self, boundary: bytes) -> None:
        self.name: str | None = None
        self.waiting: deque[bytes] = deque()
        self.is_complete = False
        self._field, self._value = b"", b""
        self._headers: dict[bytes, bytes] = {}
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._header_field,
                "on_header_value": self._header_value,
                "on_header_end": self._header_end,
                "on_headers_finished": self._headers_finished,
                "on_part_data": self._data,
                "on_end": self._end,
            },
        )

    def feed(self, piece: bytes) -> None:
        self._parser.write(piece)

    def _begin(self) -> None:
        self._headers = {}

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        self._headers[self._field.lower()] = self._value
        self._field, self._value = b"", b""

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        if self.name is not None or options.get(b"name") != FIELD.encode() or b"filename" not in options:
            raise InvalidRequest(ONE_FILE, ({"field": FIELD, "message": "one file is expected, and nothing else"},))
        self.name = _filename(options[b"filename"])

    def _data(self, data: bytes, start: int, end: int) -> None:
        self.waiting.append(data[start:end])

    def _end(self) -> None:
        self.is_complete = True


def _filename(raw: bytes) -> str:
    """The name as browsers send it: UTF-8, with these three as the URL standard's form encoding has them."""
    name = raw.decode("utf-8", "replace")
    return name.replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")


def _boundary(request: Request) -> bytes:
    kind, options = parse_options_header(request.headers.get("content-type"))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not 0 < len(boundary) <= LONGEST_BOUNDARY:
        raise Refused(415, ONE_FILE)
    return boundary


async def _pieces(request: Request) -> AsyncGenerator[bytes]:
    """The body as it comes.

    Raises:
        Refused: it comes too slowly. InvalidRequest: it breaks off.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + ALL_PATIENCE
    stream = request.stream()
    try:
        while True:
            async with asyncio.timeout_at(min(until, loop.time() + PATIENCE)):
                piece = await anext(stream, None)
            if piece is None:
                return
            yield piece
    except TimeoutError:
        raise Refused(
            408, f"nothing came for {PATIENCE:g} seconds, or not all of it", {"Connection": "close"}
        ) from None
    except ClientDisconnect:
        raise InvalidRequest("the connection broke before the body was complete") from None
