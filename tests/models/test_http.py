"""The whole way over real sockets: transport, gateway and a scripted server."""

import asyncio
import gzip
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from aiohttp import web

from talaria.core.errors import ModelRejected, ModelUnavailable, StreamTruncated
from talaria.core.messages import Text, ToolCall
from talaria.core.usage import Usage
from talaria.models.gateway import Gateway
from talaria.models.http import AioHttpTransport
from talaria.models.routes import Route
from talaria.ports.model import Answer, HttpCall, ModelItem, ReasoningDelta, Restart, TextDelta
from talaria.testing.model_server import ModelServer
from talaria.testing.steps import Step
from tests.models.fakes import NotingClock, ask, collect
from tests.models.serving import Serving


@pytest.fixture
async def transport() -> AsyncIterator[AioHttpTransport]:
    transport = AioHttpTransport()
    yield transport
    await transport.close()


def gateway(transport: AioHttpTransport, base_url: str, **options: Any) -> Gateway:
    return Gateway([Route("gpt", base_url, **options)], transport, NotingClock())


def said(items: Sequence[ModelItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextDelta))


async def test_text_reasoning_and_calls_arrive(transport: AioHttpTransport) -> None:
    step = Step("Let me see.", "Hm, 你好 🙂", calls=(("search", {"q": 1}),))
    async with ModelServer([step]) as server:
        items = await collect(gateway(transport, server.base_url, api_keys=("k",)).stream(ask()))
    answer = items[-1]
    assert isinstance(answer, Answer)
    assert answer.message.reasoning == "".join(item.text for item in items if isinstance(item, ReasoningDelta))
    assert answer.message.parts[-2:] == (Text("Let me see."), ToolCall("call_1_0", "search", '{"q": 1}'))
    assert (answer.finish, answer.usage, answer.message.model) == ("tool_calls", Usage(50, 20), "gpt-x")
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.requests[0].headers["Authorization"] == "Bearer k"
    assert server.requests[0].body["stream"] is True


async def test_a_connection_is_used_again(transport: AioHttpTransport) -> None:
    ports: set[int] = set()

    async def answer(request: web.Request) -> web.Response:
        assert request.transport is not None
        ports.add(request.transport.get_extra_info("peername")[1])
        return web.Response(text='data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n')

    async with Serving(answer) as url:
        for _ in range(3):
            await collect(gateway(transport, url).stream(ask()))
    assert len(ports) == 1


@asynccontextmanager
async def closing_after(answers: int) -> AsyncGenerator[tuple[str, list[int]]]:
    """A server that answers so many requests on a connection and closes it when there is another one.

    Gives its address, and how many requests came on each connection.
    """
    requests: list[int] = []
    ended: list[asyncio.Event] = []
    body = b'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n'

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        at, end = len(requests), asyncio.Event()
        requests.append(0)
        ended.append(end)
        with suppress(asyncio.IncompleteReadError):  # the client has closed it
            while head := await reader.readuntil(b"\r\n\r\n"):
                await reader.readexactly(int(head.lower().split(b"content-length:")[1].split()[0]))
                requests[at] += 1
                if requests[at] > answers:
                    break
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        end.set()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", requests
        async with asyncio.timeout(10):
            for end in ended:
                await end.wait()


async def test_a_connection_that_was_closed_while_it_was_idle_is_no_failure(transport: AioHttpTransport) -> None:
    async with closing_after(1) as (url, requests):
        for _ in range(3):
            items = await collect(gateway(transport, url, retries=0).stream(ask()))
            assert said(items) == "x"
            assert not any(isinstance(item, Restart) for item in items)
        await transport.close()
    assert requests == [2, 2, 1]


async def test_a_new_connection_that_is_closed_without_an_answer_is_one(transport: AioHttpTransport) -> None:
    async with closing_after(0) as (url, requests):
        with pytest.raises(ModelUnavailable, match="no connection"):
            await collect(gateway(transport, url, retries=0).stream(ask()))
    assert requests == [1]


async def test_closing_the_stream_closes_the_connection_at_once(transport: AioHttpTransport) -> None:
    async with ModelServer([Step("x" * 100, cut_after=None, hang=True)]) as server:
        stream = gateway(transport, server.base_url).stream(ask())
        assert isinstance((await anext(stream))[0], TextDelta)
        assert server.closed_early == 0
        await stream.aclose()
        await server.wait_until(lambda: server.closed_early == 1)


async def test_cancelling_the_reader_closes_the_connection_at_once(transport: AioHttpTransport) -> None:
    async with ModelServer([Step(raw=(": queued\n\n",), hang=True)]) as server:
        task = asyncio.create_task(collect(gateway(transport, server.base_url).stream(ask())))
        await server.wait_until(lambda: len(server.requests) == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.wait_until(lambda: server.closed_early == 1)


async def test_a_dead_connection_is_a_restart_and_then_the_answer(transport: AioHttpTransport) -> None:
    async with ModelServer([Step("Hello there", cut_after=2), Step("Hello there")]) as server:
        items = await collect(gateway(transport, server.base_url).stream(ask()))
    restart = next(index for index, item in enumerate(items) if isinstance(item, Restart))
    assert said(items[restart:]) == "Hello there"
    assert said(items[:restart]) == "Hello th"[: len(said(items[:restart]))]


async def test_when_it_dies_every_time_the_deltas_stand_and_an_error_follows(transport: AioHttpTransport) -> None:
    async with ModelServer([Step("Hello there", cut_after=2)] * 2) as server:
        with pytest.raises(StreamTruncated):
            await collect(gateway(transport, server.base_url, retries=1).stream(ask()))
        assert len(server.requests) == 2


async def test_a_server_that_ignores_stream_is_understood(transport: AioHttpTransport) -> None:
    async with ModelServer([Step("Hello", stream=False)]) as server:
        items = await collect(gateway(transport, server.base_url).stream(ask()))
    assert said(items) == "Hello"
    assert isinstance(items[-1], Answer)


async def test_an_error_reply_is_an_error(transport: AioHttpTransport) -> None:
    async with ModelServer([Step(status=401, body={"error": {"message": "bad"}})]) as server:
        with pytest.raises(ModelRejected, match="check its apiKey"):
            await collect(gateway(transport, server.base_url).stream(ask()))


async def test_nobody_listening_is_unavailable_and_names_no_secret(transport: AioHttpTransport) -> None:
    call = HttpCall("http://127.0.0.1:9/v1?key=secret-key", (("authorization", "Bearer secret-key"),), b"{}")
    with pytest.raises(ModelUnavailable) as caught:
        await transport.send(call, connect_timeout=5)
    assert "secret-key" not in repr(caught.value) + caught.value.operator
    assert caught.value.operator.startswith("127.0.0.1: ")


async def test_redirects_are_not_followed(transport: AioHttpTransport) -> None:
    async def elsewhere(_: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": "http://127.0.0.1:9/"})

    async with Serving(elsewhere) as url:
        with pytest.raises(ModelRejected, match="redirect"):
            await collect(gateway(transport, url).stream(ask()))


async def test_a_compressed_reply_is_read(transport: AioHttpTransport) -> None:
    payload = b'data: {"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\n'

    async def packed(_: web.Request) -> web.Response:
        return web.Response(body=gzip.compress(payload), headers={"Content-Encoding": "gzip"})

    async with Serving(packed) as url:
        assert said(await collect(gateway(transport, url).stream(ask()))) == "Hello"
