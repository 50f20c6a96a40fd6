"""Streams behind a real nginx: events arrive when they happen, whatever it buffers."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest

from talaria.core.messages import AssistantMessage, Text
from talaria.core.usage import Usage
from talaria.ports.model import Answer, ModelItem, ModelRequest, TextDelta
from tests.server.nginx import listening, nginx, session
from tests.server.serving import serving
from tests.server.sse import Parser

BUFFERING = "proxy_buffering on; proxy_ignore_headers X-Accel-Buffering;"
KEPT_ALIVE = 'proxy_http_version 1.1; proxy_set_header Connection "";'
COMPRESSING = "gzip on; gzip_types *; gzip_proxied any;"


class Ticking:
    """A model that says what time it is, again and again."""

    def __init__(self, pauses: Sequence[float]) -> None:
        self.pauses = pauses

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelItem], None]:
        assert request.prompt.messages
        said: list[str] = []
        for pause in self.pauses:
            await asyncio.sleep(pause)
            said.append(f"{time.monotonic():.4f} ")
            yield [TextDelta(said[-1])]
        yield [Answer(AssistantMessage((Text("".join(said)),), "m"), "stop", Usage())]


async def delays(
    folder: Path, *, padding: int, http: str, location: str, gzip: bool
) -> tuple[list[float], dict[str, str]]:
    """Stream through nginx; return the delay of each event in seconds, sorted, and the head of the answer."""
    model = Ticking([0.25] * 4 + [0.01] * 100)
    headers = {"Accept-Encoding": "gzip" if gzip else "identity"}
    late: list[float] = []
    async with serving(model, server={"heartbeatPadding": padding}) as served, listening(served.app) as port:
        with nginx(folder, port, http=http, location=location) as url:
            began = time.monotonic()
            async with (
                session() as client,
                client.post(f"{url}/ai-api/chat/stream", json={"query": "x"}, headers=headers) as answer,
            ):
                parser = Parser()
                async for data in answer.content.iter_any():
                    now = time.monotonic()
                    for event in parser.feed(data):
                        if event.type == "run_started":
                            late.append(now - began)
                        elif event.type == "token":
                            late.append(now - float(event.data["data"]))
    assert len(late) == 105
    return sorted(late), {name.lower(): value for name, value in answer.headers.items()}


@pytest.mark.service("nginx")
@pytest.mark.parametrize(
    ("padding", "http", "location"),
    [
        pytest.param(0, "", "", id="as it comes"),
        pytest.param(0, COMPRESSING, "", id="compressing"),
        pytest.param(2048, "", BUFFERING, id="buffering"),
        pytest.param(2048, "", BUFFERING + KEPT_ALIVE, id="buffering over HTTP 1.1"),
        pytest.param(24576, COMPRESSING, BUFFERING, id="buffering and compressing"),
    ],
)
async def test_events_arrive_within_200_ms(tmp_path: Path, padding: int, http: str, location: str) -> None:
    late, head = await delays(tmp_path, padding=padding, http=http, location=location, gzip=bool(http))
    assert late[int(len(late) * 0.99)] < 0.2
    assert head["content-type"] == "text/event-stream; charset=utf-8"
    assert "content-length" not in head
    assert head.get("content-encoding") == ("gzip" if http else None)


@pytest.mark.service("nginx")
async def test_a_refused_request_keeps_its_status_and_its_problem_document(tmp_path: Path) -> None:
    async with serving(None) as served, listening(served.app) as port:
        with nginx(tmp_path, port) as url:
            async with session() as client, client.post(f"{url}/ai-api/chat/stream", json={}) as answer:
                problem = await answer.json(content_type=None)
    assert (answer.status, answer.content_type, problem["code"]) == (422, "application/problem+json", "invalid_request")
