"""A body that does not come: its request ends with a problem, and its connection with it."""

import asyncio

import pytest

from talaria.server import body
from talaria.testing.scripted_model import ScriptedModel
from tests.server.nginx import listening
from tests.server.serving import serving

HEAD = (
    b"POST /ai-api/chat/stream HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Type: application/json\r\nContent-Length: 90\r\n\r\n"
)


@pytest.mark.parametrize("first", [b"", b'{"query": '])
async def test_a_body_that_does_not_come_in_time_is_408(first: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "PATIENCE", 0.05)
    model = ScriptedModel()
    async with serving(model) as served, listening(served.app) as port, asyncio.timeout(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD + first)
        answer = (await reader.read()).decode()  # to its end: the server closes the connection
        writer.close()
        await writer.wait_closed()
    assert answer.startswith("HTTP/1.1 408 ")
    assert "application/problem+json" in answer
    assert '"code":"invalid_request"' in answer
    assert model.requests == []
