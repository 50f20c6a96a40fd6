"""Private protocols the whole way: a configuration file, a runtime, and a server on loopback."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from talaria import Agent, Principal, Runtime, TalariaError, tool
from tests.models.mapped_protocols import HOUSE, events
from tests.models.serving import Serving

CLERK = Agent("clerk")
ANN = Principal(user="ann")
QUICK = {"retries": 0, "firstTokenTimeout": 5}


@tool(side_effects=False)
def stock(article: str) -> int:
    """Say how many pieces there are."""
    return {"A-1": 12}[article]


class House:
    """A server of the house's own protocol; `bodies` are what it was asked."""

    def __init__(self, *replies: bytes, status: int = 200) -> None:
        self.paths: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self._replies = iter(replies)
        self._status = status

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.paths.append(request.path)
        self.bodies.append(await request.json())
        response = web.StreamResponse(status=self._status)
        await response.prepare(request)
        reply = next(self._replies)
        for start in range(0, len(reply), 5):
            await response.write(reply[start : start + 5])
            await asyncio.sleep(0)
        await response.write_eof()
        return response


async def configured(folder: Path, base_url: str, mapping: dict[str, Any]) -> Runtime:
    """A runtime out of a configuration file; files are read on a thread."""
    route = {"prefix": "corp", "dialect": "mapped", "baseUrl": base_url, "mapping": mapping, **QUICK}
    path = folder / "talaria.yaml"
    config = {"store": {"url": "memory://"}, "models": [route], "defaultModel": "corp-1"}
    await asyncio.to_thread(path.write_text, json.dumps(config))
    return await asyncio.to_thread(Runtime, path)


def said(answer: str = "", **data: Any) -> dict[str, Any]:
    return {"code": 0, "data": {"answer": answer, **data}}


def streamed(*payloads: Any) -> bytes:
    return events(*payloads) + b"data: [END]\n\n"


async def test_a_turn_with_reasoning_a_tool_call_and_usage(tmp_path: Path) -> None:
    call = {"key": "k1", "tool": "stock", "input": {"article": "A-1"}}
    clerk = Agent("clerk", tools=[stock])
    house = House(
        streamed(said(thought="Let me look."), said(tools=[call]), said(cost={"in": 10, "out": 5}, why="TOOL")),
        streamed(said("Twel"), said("ve."), said(cost={"in": 20, "out": 3}, why="DONE")),
    )
    async with Serving(house.answer) as url, await configured(tmp_path, url, HOUSE.mapping) as runtime:
        found = [event async for event in runtime.stream(clerk, "How many?", principal=ANN, assistant_id=7)]
    assert [event.data for event in found if event.type == "token"] == ["Twel", "ve."]
    assert [event.data for event in found if event.type == "reasoning"] == ["Let me look."]
    assert found[-1].type == "finish"
    assert found[-1].usage is not None
    assert (found[-1].usage.input_tokens, found[-1].usage.output_tokens) == (30, 8)
    assert house.paths == ["/callStream", "/callStream"]
    assert (house.bodies[0]["model"], house.bodies[0]["userId"], house.bodies[0]["assistantId"]) == (
        "corp-1",
        "ann",
        "7",
    )
    assert house.bodies[0]["tools"][0]["function"]["name"] == "stock"
    assert house.bodies[1]["messages"][-1]["content"] == "12"
    assert house.bodies[1]["messages"][-2]["tool_calls"][0]["id"] == "k1"


async def test_a_protocol_without_streaming_is_a_stream_of_one_delta(tmp_path: Path) -> None:
    mapping = {"call": "/ask", "text": "result", "request": {"question": "$prompt", "who": "$user"}}
    house = House(b'{"result": "Good day."}')
    async with Serving(house.answer) as url, await configured(tmp_path, url, mapping) as runtime:
        found = [event async for event in runtime.stream(CLERK, "Hello", principal=ANN)]
    assert [event.data for event in found if event.type == "token"] == ["Good day."]
    assert (house.paths, house.bodies[0]["who"]) == (["/ask"], "ann")
    assert "user: Hello" in house.bodies[0]["question"]


@pytest.mark.parametrize(
    ("house", "code", "message"),
    [
        (lambda: House(b'{"msg": "no such user"}', status=401), "model_rejected", "check its apiKey"),
        (lambda: House(b"gone", status=404), "model_rejected", "check the name and the route's baseUrl"),
        (lambda: House(streamed({"code": 503, "msg": "S3CRET down"})), "model_unavailable", "broke off"),
        (lambda: House(events(said("Twel"))), "stream_truncated", "ended too early"),
        (lambda: House(b"<html>Log in"), "model_unavailable", "web page"),
    ],
    ids=["key", "path", "in band", "cut off", "page"],
)
async def test_errors_are_told_apart(tmp_path: Path, house: Callable[[], House], code: str, message: str) -> None:
    async with Serving(house().answer) as url, await configured(tmp_path, url, HOUSE.mapping) as runtime:
        with pytest.raises(TalariaError) as failed:
            await runtime.run(CLERK, "Hello")
    assert failed.value.code == code
    assert message in failed.value.message
    assert "S3CRET" not in failed.value.message


async def test_tools_that_a_protocol_has_no_place_for_are_refused(tmp_path: Path) -> None:
    house = House()
    mapping = {"call": "/ask", "text": "result"}
    async with Serving(house.answer) as url, await configured(tmp_path, url, mapping) as runtime:
        with pytest.raises(TalariaError, match="cannot call tools") as refused:
            await runtime.run(Agent("clerk", tools=[stock]), "Hello")
    assert (house.paths, refused.value.code) == ([], "capability_missing")
