"""The demo's client: it reads any valid stream, honours `rewind`, and goes on where its connection broke."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import pytest
from aiohttp import ClientError, web
from aiohttp.test_utils import TestClient, TestServer

from talaria.demo.client import AskError, Client, Watcher, read_events
from talaria.demo.transcript import Event, Transcript

Test = TestClient[web.Request, web.Application]
SILENT = Watcher(lambda _: None, lambda _: None)
FIRST = [
    'id: run_1/1\ndata: {"type": "run_started", "data": "run_1"}\n\n',
    'id: run_1/2\ndata: {"type": "token", "data": "Hello "}\n\n',
    'id: run_1/3\ndata: {"type": "token", "data": "wor"}\n\n',
]
REST = [
    'id: run_1/4\ndata: {"type": "token", "data": "ld"}\n\n',
    'id: run_1/5\ndata: {"type": "finish", "reason": "stop"}\n\n',
]


class Server:
    """Says FIRST to a question and drops the connection, then REST to whoever comes back."""

    def __init__(self, first: list[str], status: int = 200) -> None:
        self._first = first
        self._status = status
        self.came_with: list[str | None] = []

    async def ask(self, request: web.Request) -> web.StreamResponse:
        if self._status != 200:
            return web.Response(status=self._status, text="no")
        return await self._say(request, self._first)

    async def go_on(self, request: web.Request) -> web.StreamResponse:
        self.came_with.append(request.headers.get("Last-Event-ID"))
        return await self._say(request, REST)

    async def _say(self, request: web.Request, pieces: list[str]) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece.encode())
        if pieces is self._first and request.transport is not None:
            request.transport.close()
        return response


@asynccontextmanager
async def serving(server: Server) -> AsyncGenerator[Test]:
    app = web.Application()
    app.router.add_post("/ai-api/chat/stream", server.ask)
    app.router.add_get("/ai-api/runs/run_1/events", server.go_on)
    async with TestClient(TestServer(app)) as client:
        yield client


def client_of(test: Test, cut_after: int = 10_000) -> Client:
    return Client(test.session, str(test.make_url("")).rstrip("/"), SILENT, cut_after)


async def test_it_goes_on_after_a_connection_that_broke_by_itself() -> None:
    server = Server(FIRST)
    async with serving(server) as test:
        client = client_of(test)
        transcript = await client.ask({"query": "Hello"})
        assert (transcript.text, server.came_with, client.cut_at) == ("Hello world", ["run_1/3"], 0)


async def test_it_hangs_up_once_when_the_answer_is_long_enough_and_comes_back_with_the_last_id_it_took() -> None:
    server = Server(FIRST)
    async with serving(server) as test:
        client = client_of(test, cut_after=5)
        await client.ask({"query": "Hello"})
        assert (client.cut_at, server.came_with) == (6, ["run_1/2"])


async def test_a_refusal_is_an_error_with_the_answer_of_the_server() -> None:
    async with serving(Server(FIRST, status=503)) as test:
        with pytest.raises(AskError, match="503: no"):
            await client_of(test).ask({"query": "Hello"})


async def test_comments_carriage_returns_and_an_unfinished_event_are_read_right() -> None:
    pieces = [": ping\n\n", "id: a\r\nda", 'ta:{"type":"token",\r\ndata: "data":"x"}\r\n\r\n', 'id: b\ndata: {"type"']
    async with serving(Server(pieces)) as test, test.post("/ai-api/chat/stream") as reply:
        events: list[Event] = []
        with suppress(ClientError):
            async for event in read_events(reply):
                events.append(event)  # noqa: PERF401 - what came before the end counts
        assert events == [Event("a", "token", {"type": "token", "data": "x"})]


def token(id_: str, text: str, kind: str = "token") -> Event:
    return Event(id_, kind, {"type": kind, "data": text})


def test_after_a_rewind_the_text_behind_its_target_is_dropped_and_all_else_is_kept() -> None:
    transcript = Transcript()
    result = Event("r/4", "tool_result", {"type": "tool_result", "toolResults": []})
    for event in (token("r/1", "kept "), token("r/2", "lost", "reasoning"), token("r/3", "lost"), result):
        transcript.take(event)
    transcript.take(Event("r/5", "rewind", {"type": "rewind", "data": "r/1"}))
    transcript.take(token("r/6", "said again"))
    assert (transcript.text, transcript.reasoning, transcript.answer) == ("kept said again", "", "said again")
    assert (transcript.last_id, transcript.rewinds) == ("r/6", 1)
    assert result in transcript.events
