"""The two servers that relay a model's stream: Talaria as shipped, and a bare ASGI application by hand."""

import asyncio
import socket
from typing import Any

import aiohttp
import msgspec
import uvicorn

from benchmarks.floor import Floor, client
from benchmarks.subject import settings
from talaria import Runtime
from talaria.server.listen import address, loop_factory, open_socket, serve
from talaria.telemetry.logs import set_up_logs

_encode = msgspec.json.Encoder().encode


class Event(msgspec.Struct):
    """An event of the bare server."""

    type: str
    data: str


class Bare:
    """A bare ASGI application: asks the model, says each token as an event, and that is all."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._http: aiohttp.ClientSession | None = None

    async def __call__(self, _: Any, receive: Any, send: Any) -> None:
        """Answer."""
        body = b""
        while (part := await receive())["more_body"]:
            body += part["body"]
        query = msgspec.json.decode(body + part["body"])["query"]
        self._http = self._http or client()
        headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        number = 0
        async for texts in Floor(self._http, self._url).tokens(query):
            events: list[bytes] = []
            for text in texts:
                number += 1
                events.append(b"id: %d\ndata: %b\n\n" % (number, _encode(Event("token", text))))
            await send({"type": "http.response.body", "body": b"".join(events), "more_body": True})
        last = b"data: %b\n\n" % _encode(Event("finish", ""))
        await send({"type": "http.response.body", "body": last, "more_body": False})


def by_hand(url: str) -> None:
    """Serve the bare application until a signal comes."""
    config = uvicorn.Config(Bare(url), lifespan="off", ws="none", log_config=None, access_log=False)
    with asyncio.Runner(loop_factory=loop_factory()) as runner, socket.create_server(("127.0.0.1", 0)) as listening:
        print(address(listening), flush=True)
        runner.run(uvicorn.Server(config).serve([listening]))


def by_talaria(url: str) -> None:
    """Serve Talaria as `talaria serve` does, with its log lines, until a signal comes."""
    set_up_logs("json")
    runtime = Runtime(settings(url, server={"port": 0}, defaultModel="mock"))
    with asyncio.Runner(loop_factory=loop_factory()) as runner, open_socket(runtime.settings) as listening:
        runner.run(serve(runtime, listening, lambda where: print(where, flush=True)))
