"""The floor: the same work as a careful person writes it by hand, over aiohttp and msgspec and nothing else.

It checks arguments against a type, encodes every message once, and has none of what a harness is for: no record, no
retries, no limits, no approvals, no cancel, no events for anybody.
"""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import msgspec


class Arguments(msgspec.Struct):
    """What the one tool takes."""

    order_id: str
    amount: int
    note: str = ""


class _Function(msgspec.Struct):
    name: str = ""
    arguments: str = ""


class _Call(msgspec.Struct):
    id: str = ""
    function: _Function = msgspec.field(default_factory=_Function)
    index: int = 0


class _Message(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    message: _Message = msgspec.field(default_factory=_Message)
    delta: _Message = msgspec.field(default_factory=_Message)


class _Reply(msgspec.Struct):
    choices: list[_Choice]


_encode = msgspec.json.Encoder().encode
_reply = msgspec.json.Decoder(_Reply).decode
_arguments = msgspec.json.Decoder(Arguments).decode

TOOLS = _encode(
    [
        {
            "type": "function",
            "function": {
                "name": "look_up",
                "description": "Look up an order.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "order_id": {"type": "string"},
                        "amount": {"type": "integer"},
                        "note": {"type": "string"},
                    },
                    "required": ["order_id", "amount"],
                },
            },
        }
    ]
)
SYSTEM = _encode({"role": "system", "content": "You look after orders. Use the tools, and say what you found."})

ToolBody = Callable[[Arguments], Awaitable[str]]


async def found(arguments: Arguments) -> str:
    """What the tool does: nearly nothing."""
    return f"order {arguments.order_id}: {arguments.amount} EUR"


class Floor:
    """A conversation by hand. `body` is what tools do, `tools` how they are sent.

    `keep` writes each turn's messages to a SQLite file.
    """

    def __init__(
        self,
        http: aiohttp.ClientSession,
        url: str,
        *,
        body: ToolBody = found,
        keep: str | None = None,
        tools: bytes = TOOLS,
    ) -> None:
        self._http = http
        self._url = f"{url}/chat/completions"
        self._body = body
        self._tools = tools
        self._messages = bytearray(SYSTEM)
        self._file = _opened(keep) if keep is not None else None
        self._number = 0

    async def run(self, query: str, *, stream: bool = False) -> str:
        """One turn: ask, call tools, until there is an answer."""
        new = [_encode({"role": "user", "content": query})]
        while True:
            for message in new:
                self._messages += b","
                self._messages += message
            self._keep(new)
            message = await (self._streamed() if stream else self._whole())
            new = [_encode({"role": "assistant", "content": message.content, "tool_calls": _sent(message.tool_calls)})]
            if not message.tool_calls:
                self._messages += b"," + new[0]
                self._keep(new)
                return message.content or ""
            for call in message.tool_calls:
                result = await self._body(_arguments(call.function.arguments))
                new.append(_encode({"role": "tool", "tool_call_id": call.id, "content": result}))

    async def tokens(self, query: str) -> AsyncIterator[list[str]]:
        """The texts of a streamed answer, in the pieces in which the network brings them."""
        self._messages += b"," + _encode({"role": "user", "content": query})
        async for deltas in self._deltas():
            if texts := [delta.content for delta in deltas if delta.content]:
                yield texts

    async def _whole(self) -> _Message:
        async with self._http.post(self._url, data=self._request(b"false"), headers=_HEADERS) as response:
            return _reply(await response.read()).choices[0].message

    async def _streamed(self) -> _Message:
        texts: list[str] = []
        calls: dict[int, _Call] = {}
        async for deltas in self._deltas():
            for delta in deltas:
                if delta.content:
                    texts.append(delta.content)
                for call in delta.tool_calls or ():
                    if (begun := calls.setdefault(call.index, call)) is not call:
                        begun.function.arguments += call.function.arguments
        return _Message("".join(texts) or None, list(calls.values()) or None)

    async def _deltas(self) -> AsyncIterator[list[_Message]]:
        rest = b""
        async with self._http.post(self._url, data=self._request(b"true"), headers=_HEADERS) as response:
            async for data in response.content.iter_any():
                *events, rest = (rest + data).split(b"\n\n")
                yield [choice.delta for event in events if event[6:7] == b"{" for choice in _reply(event[6:]).choices]

    def _request(self, stream: bytes) -> bytes:
        return b'{"model":"mock","stream":%b,"messages":[%b],"tools":%b}' % (stream, self._messages, self._tools)

    def _keep(self, messages: list[bytes]) -> None:
        if self._file is None:
            return
        rows: list[tuple[int, bytes]] = []
        for message in messages:
            self._number += 1
            rows.append((self._number, message))
        with self._file:
            self._file.executemany("INSERT INTO message VALUES (?, ?)", rows)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


_HEADERS = {"Content-Type": "application/json", "Authorization": "Bearer none"}


def _sent(calls: list[_Call] | None) -> list[dict[str, Any]] | None:
    return [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.function.name, "arguments": call.function.arguments},
        }
        for call in calls or ()
    ] or None


def _opened(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE message(number INTEGER PRIMARY KEY, data BLOB NOT NULL)")
    return connection


def client() -> aiohttp.ClientSession:
    """The HTTP client."""
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar())
