"""Over real sockets, as uvicorn serves them: leaving, reading slowly, sending slowly."""

import asyncio
from collections.abc import AsyncGenerator

from starlette.types import Message, Scope

from talaria.testing.scripted_model import Say, ScriptedModel
from tests.server.nginx import listening, session
from tests.server.serving import serving, status


async def test_a_client_that_leaves_cancels_its_run_within_two_seconds() -> None:
    model = ScriptedModel(Say("One two", chunk=4, gate=asyncio.Event()))
    async with serving(model) as served, listening(served.app) as port:
        url = f"http://127.0.0.1:{port}/ai-api/chat/stream"
        async with session() as client:
            async with client.post(url, json={"query": "x", "onDisconnect": "cancel"}) as answer:
                run_id = answer.headers["X-Run-Id"]
                await answer.content.readuntil(b"token")
            await model.wait_until(lambda: model.closed_early == 1, limit=2)
        await status(served, run_id, "finished")
        assert len(served.app.streams) == 0


async def test_a_client_that_reads_nothing_holds_nobody_up_and_costs_little() -> None:
    text = "0123456789" * 200_000
    async with serving(ScriptedModel(Say(text, chunk=2000))) as served, listening(served.app) as port:
        url = f"http://127.0.0.1:{port}"
        async with session() as client, client.post(f"{url}/ai-api/chat/stream", json={"query": "x"}) as lazy:
            run_id = lazy.headers["X-Run-Id"]
            await status(served, run_id, "finished")
            async with client.get(f"{url}/ai-api/runs/{run_id}/events") as quick:
                assert (await quick.read()).count(b'"finish"') == 1
            assert (await lazy.read()).count(b'"finish"') == 1


async def test_a_body_that_comes_in_pieces_is_read_whole() -> None:
    async def pieces() -> AsyncGenerator[bytes]:
        for piece in (b'{"qu', b'ery": "', b'x"}'):
            yield piece
            await asyncio.sleep(0)

    async with serving(ScriptedModel(Say("ok"))) as served, listening(served.app) as port, session() as client:
        url = f"http://127.0.0.1:{port}/ai-api/chat/stream"
        async with client.post(url, data=pieces(), headers={"Content-Type": "application/json"}) as answer:
            assert (answer.status, b'"ok"' in await answer.read()) == (200, True)


async def test_a_server_that_raises_when_the_client_is_gone_means_the_same() -> None:
    model = ScriptedModel(Say("One two", chunk=4, gate=asyncio.Event()))
    body = [b'{"query": "x", "onDisconnect": "cancel"}']

    async def receive() -> Message:
        if body:
            return {"type": "http.request", "body": body.pop(), "more_body": False}
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        if b"token" in message.get("body", b""):
            raise OSError("broken pipe")

    scope: Scope = {
        "type": "http",
        "method": "POST",
        "path": "/ai-api/chat/stream",
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
    }
    async with serving(model) as served:
        await served.app(scope, receive, send)
        await model.wait_until(lambda: model.closed_early == 1, limit=2)
