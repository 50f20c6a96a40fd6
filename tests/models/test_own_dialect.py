"""A dialect of one's own, the one of the documents: found by its name in a configuration file, and at work."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from talaria import Agent, Runtime, TalariaError, tool
from talaria.core.errors import ConfigurationError
from talaria.models.dialects import make_dialect
from talaria.models.routes import Route
from talaria.ports.model import Answer, Delta
from tests.models.serving import Serving
from tests.repository import ROOT

EXAMPLES = ROOT / "examples"
NAME = "private_dialect:PrivateDialect"


@tool(side_effects=False)
def stock(article: str) -> int:
    """Say how many pieces there are."""
    return {"A-1": 12}[article]


CLERK = Agent("clerk", instructions="Be brief.", tools=[stock])


class Corp:
    def __init__(self, *replies: str, status: int = 200) -> None:
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self._replies = iter(replies)
        self._status = status

    async def answer(self, request: web.Request) -> web.Response:
        self.requests.append((request.path, dict(request.headers), await request.json()))
        return web.Response(text=next(self._replies), status=self._status)


async def configured(folder: Path, base_url: str) -> Runtime:
    route = {"prefix": "corp", "dialect": NAME, "baseUrl": base_url, "apiKey": "k-1", "retries": 0}
    path = folder / "talaria.yaml"
    config = {"store": {"url": "memory://"}, "models": [route], "defaultModel": "corp-1"}
    await asyncio.to_thread(path.write_text, json.dumps(config))
    return await asyncio.to_thread(Runtime, path)


@pytest.fixture(autouse=True)
def started_in_the_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])  # what is put there is gone again afterwards
    monkeypatch.chdir(EXAMPLES)


async def test_a_turn_with_a_tool_call(tmp_path: Path) -> None:
    corp = Corp(
        'C {"id": "c1", "name": "stock", "input": {"article": "A-1"}}\nU [10, 5]\n.\n',
        'T "Twel"\nT "ve 🙂"\nU [20, 3]\n.\n',
    )
    async with Serving(corp.answer) as url, await configured(tmp_path, url) as runtime:
        result = await runtime.run(CLERK, "How many?")
    assert (result.output, result.usage.input_tokens, result.usage.output_tokens) == ("Twelve 🙂", 30, 8)
    (path, headers, first), (_, _, second) = corp.requests
    assert (path, headers["x-corp-key"], first["bot"], first["tools"][0]["name"]) == (
        "/v2/talk",
        "k-1",
        "corp-1",
        "stock",
    )
    assert second["turns"][-1]["says"] == "12"
    assert second["turns"][-1]["call"] == second["turns"][-2]["calls"][0][0]


@pytest.mark.parametrize(
    ("reply", "status", "code"),
    [('T "Tw', 200, "stream_truncated"), ("E down\n", 200, "model_unavailable"), ("no", 403, "model_rejected")],
)
async def test_its_failures_are_told_apart(tmp_path: Path, reply: str, status: int, code: str) -> None:
    async with Serving(Corp(reply, status=status).answer) as url, await configured(tmp_path, url) as runtime:
        with pytest.raises(TalariaError) as failed:
            await runtime.run(CLERK, "How many?")
    assert failed.value.code == code


def test_it_is_exact_however_its_bytes_are_cut() -> None:
    sys.path.append(str(EXAMPLES))
    body = 'T "Größe 🙂"\nC {"id": "c", "name": "n", "input": {}}\nT "!"\nU [1, 2]\n.\n'.encode()
    route = Route("corp", "http://corp.test", NAME)

    def decoded(size: int) -> tuple[list[Delta], Answer]:
        decoder, deltas = make_dialect(route).decoder(route.connection("corp-1")), list[Delta]()
        for start in range(0, len(body), size):
            deltas += decoder.feed(body[start : start + size])
        return deltas, decoder.end()[1]

    assert decoded(1)[1].message.text == "Größe 🙂!"
    assert all(decoded(size) == decoded(len(body)) for size in range(1, 20))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no_such_module:Dialect", "No module named 'no_such_module'; put it where talaria is started"),
        ("private_dialect:PrivateDialekt", "PrivateDialekt"),
        ("private_dialect:PrivateDecoder", "it has no request, decoder, failure"),
    ],
)
def test_a_class_that_cannot_be_one_is_an_error_at_the_start(name: str, words: str) -> None:
    sys.path.append(str(EXAMPLES))
    with pytest.raises(ConfigurationError, match=words):
        make_dialect(Route("corp", "http://corp.test", name))
