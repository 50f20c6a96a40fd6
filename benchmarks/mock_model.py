"""A model server in a process of its own, on the other core, that costs next to nothing: answers are bytes in memory.

Run as `python -m benchmarks.mock_model`; prints its port. The first part of a request's path says what is played:
`/calls-tokens-delay-pace-gathered/…`: so many tool calls a turn, one a round, then a text of so many tokens; each
answer after `delay` ms, the tokens of a streamed text `pace` ms apart (0: all at once). Every event of a stream is an
HTTP chunk of its own, as model servers send them, or (`gathered`) shares one of 8 kB with others. Streamed or not as
asked for.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from benchmarks.child import ROOT
from benchmarks.machine import pin

TOOL = "look_up"
BURST = 8 * 1024
"""Bytes in an HTTP chunk of a gathered stream, as a proxy with a buffer sends it."""
_JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
_STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_END = b"0\r\n\r\n"


@dataclass(frozen=True)
class Play:
    """What is answered. Times in ms."""

    calls: int = 0
    tokens: int = 20
    delay: int = 0
    pace: int = 0
    gathered: int = 0

    @staticmethod
    def of(url: str) -> "Play":
        """What is played under a base URL."""
        return Play(*map(int, url.rsplit("/", 1)[1].split("-")))

    def url(self, origin: str) -> str:
        """The base URL under which a server plays this."""
        return f"{origin}/{self.calls}-{self.tokens}-{self.delay}-{self.pace}-{self.gathered}"


def _arguments(number: int) -> str:
    return json.dumps({"order_id": f"order-{number:04}", "amount": number, "note": "as agreed on the telephone"})


def _token(number: int) -> str:
    return f" tok{number % 10}"


def _chunk(delta: dict[str, Any], finish: str | None = None, usage: dict[str, int] | None = None) -> bytes:
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}] if usage is None else []
    body: dict[str, Any] = {"id": "chatcmpl-7", "object": "chat.completion.chunk", "created": 1_700_000_000}
    body |= {"model": "mock", "choices": choices}
    if usage is not None:
        body["usage"] = usage
    return b"data: %b\n\n" % json.dumps(body, separators=(",", ":")).encode()


def _usage(tokens: int) -> dict[str, int]:
    return {"prompt_tokens": 100, "completion_tokens": tokens, "total_tokens": 100 + tokens}


def _events(play: Play, number: int) -> list[bytes]:
    """The events of a streamed answer: a call if there are any left to make, else the text."""
    if number < play.calls:
        text = _arguments(number)
        half = len(text) // 2
        begun = {"index": 0, "id": f"call_{number}", "type": "function", "function": {"name": TOOL, "arguments": ""}}
        pieces = ({"index": 0, "function": {"arguments": piece}} for piece in (text[:half], text[half:]))
        deltas = [{"tool_calls": [begun]}, *({"tool_calls": [piece]} for piece in pieces)]
    else:
        deltas = [{"content": _token(at)} for at in range(play.tokens)]
    finish = "tool_calls" if number < play.calls else "stop"
    head = _chunk({"role": "assistant", "content": ""})
    return [head, *map(_chunk, deltas), _chunk({}, finish), _chunk({}, usage=_usage(play.tokens)), b"data: [DONE]\n\n"]


@lru_cache
def streamed(play: Play, number: int) -> list[bytes]:
    """The writes of a streamed answer: head, pieces, end; paced, every event is a write of its own."""
    events = _events(play, number)
    if play.gathered:
        body = b"".join(events)
        events = [body[start : start + BURST] for start in range(0, len(body), BURST)]
    writes = [_STREAM, *(_framed(event) for event in events), _END]
    return writes if play.pace else [b"".join(writes)]


def _framed(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)


@lru_cache
def whole(play: Play, number: int) -> bytes:
    """An answer that is not streamed."""
    message: dict[str, Any] = {"role": "assistant", "content": "".join(map(_token, range(play.tokens)))}
    if number < play.calls:
        function = {"name": TOOL, "arguments": _arguments(number)}
        message |= {"content": None, "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}]}
    finish = "tool_calls" if number < play.calls else "stop"
    body: dict[str, Any] = {"id": "chatcmpl-7", "object": "chat.completion", "created": 1_700_000_000, "model": "mock"}
    body["choices"] = [{"index": 0, "message": message, "finish_reason": finish}]
    body["usage"] = _usage(play.tokens)
    data = json.dumps(body, separators=(",", ":")).encode()
    return _JSON % (len(data), data)


class _Connection(asyncio.Protocol):
    """One client's connection: requests in, prepared answers out."""

    def __init__(self) -> None:
        self._data = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            head = self._data[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self._data) < end + 4 + length:
                return
            body, self._data = self._data[end + 4 : end + 4 + length], self._data[end + 4 + length :]
            self._answer(head, body)

    def _answer(self, head: bytes, body: bytes) -> None:
        play = Play(*(int(part) for part in head.split(b"/", 2)[1].split(b"-")))
        number = body.count(b'"role":"tool"', max(body.rfind(b'"role":"user"'), 0))
        writes = streamed(play, number) if b'"stream":true' in body else [whole(play, number)]
        loop = asyncio.get_running_loop()
        if not play.delay and len(writes) == 1:
            self._write(writes[0])
            return
        for at, data in enumerate(writes):
            loop.call_later((play.delay + at * play.pace) / 1000, self._write, data)

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Connection, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def mock_model() -> Generator[str]:
    """Run the server for as long as the block lasts; gives its origin."""
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.mock_model"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


if __name__ == "__main__":
    pin(1)
    asyncio.run(_serve())
