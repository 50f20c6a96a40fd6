"""The two servers that relay a model's stream: Talaria as shipped, and a bare ASGI application by hand."""

import asyncio
import socket
from typing import Any

import aiohttp
import msgspec
import uvicorn

from benchmarks.floor import Floor, client
from benchmarks.mock_model import Play
from benchmarks.subject import AGENT, settings
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


class Events:
    """A bare ASGI application that asks nobody: it sends as many events as the model would, one a write."""

    def __init__(self, play: Play) -> None:
        self._play = play

    async def __call__(self, _: Any, receive: Any, send: Any) -> None:
        """Answer."""
        while (await receive())["more_body"]:
            pass
        headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for number in range(self._play.tokens):
            if self._play.pace:
                await asyncio.sleep(self._play.pace / 1000)
            event = b"id: %d\ndata: %b\n\n" % (number, _encode(Event("token", " tok")))
            await send({"type": "http.response.body", "body": event, "more_body": True})
        last = b"data: %b\n\n" % _encode(Event("finish", ""))
        await send({"type": "http.response.body", "body": last, "more_body": False})


def by_hand(url: str) -> None:
    """Serve the bare application until a signal comes."""
    _serve(Bare(url))


def events_only(url: str) -> None:
    """Serve events alone until a signal comes."""
    _serve(Events(Play.of(url)))


def _serve(application: Any) -> None:
    config = uvicorn.Config(application, lifespan="off", ws="none", log_config=None, access_log=False)
    with asyncio.Runner(loop_factory=loop_factory()) as runner, socket.create_server(("127.0.0.1", 0)) as listening:
        print(address(listening), flush=True)
        runner.run(uvicorn.Server(config).serve([listening]))


def by_talaria(url: str) -> None:
    """Serve Talaria as `talaria serve` does, with its log lines, until a signal comes."""
    _talaria(settings(url, server={"port": 0}, defaultModel="mock"))


def with_a_long_run(url: str, long: str) -> None:
    """The same, with another model, `long`, that is asked under another URL."""
    models = [{"prefix": "", "baseUrl": url}, {"prefix": "long", "baseUrl": long}]
    _talaria(settings(url, server={"port": 0}, defaultModel="mock") | {"models": models})


def _talaria(config: dict[str, Any]) -> None:
    set_up_logs("json")
    runtime = Runtime(config, agents=[AGENT])
    with asyncio.Runner(loop_factory=loop_factory()) as runner, open_socket(runtime.settings) as listening:
        runner.run(serve(runtime, listening, lambda where: print(where, flush=True)))
