"""`talaria doctor`: every configured model is asked for real; each failure says what to do, and no key is shown."""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from talaria.testing.model_server import ModelServer
from talaria.testing.steps import Step
from tests.models.serving import Serving

KEY = "corp-very-secret-0123456789"
NUMBERS = "one, two, three, four, five, six"


def good(body: dict[str, Any]) -> Step:
    if body.get("tools"):
        return Step(calls=(("add", {"a": 1234, "b": 4321}),))
    return Step(text=NUMBERS, reasoning="Hm." if "reasoning_effort" in body else "", pace=0.02)


async def doctor(folder: Path, models: Sequence[dict[str, Any]], *arguments: str, **config: Any) -> tuple[int, str]:
    """Run the command; return its code and all that it said."""
    path = folder / "talaria.yaml"
    await asyncio.to_thread(path.write_text, json.dumps({"models": models, "store": {"url": "memory://"}, **config}))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "talaria", "doctor", "--config", str(path), *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asyncio.wait_for(process.communicate(), 40)
    assert process.returncode is not None
    return process.returncode, said.decode()


def route(base_url: str, prefix: str = "gpt-9", **more: Any) -> dict[str, Any]:
    return {"prefix": prefix, "baseUrl": base_url, "apiKey": KEY, "firstTokenTimeout": 5, **more}


def cells(said: str, row: int = 1) -> list[str]:
    return [cell for cell in said.splitlines()[row].split("  ") if cell]


async def test_a_model_that_can_do_everything_is_well(tmp_path: Path) -> None:
    async with ModelServer(good) as server:
        code, said = await doctor(tmp_path, [route(server.base_url)])
    head, row, *rest = said.splitlines()
    assert head.split("  ")[0] == "route"
    assert [cell.strip() for cell in row.split("  ") if cell][:-1] == ["gpt-9", "gpt-9", "ok", "ok", "ok", "ok"]
    assert row.endswith(" ms")
    assert (code, rest[-1]) == (0, "All is well.")
    assert len(server.requests) == 3
    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"


async def test_every_model_that_the_configuration_names_is_tried(tmp_path: Path) -> None:
    agents = [{"name": "a", "model": "gpt-7"}, {"name": "b", "model": "qwen-max"}]
    async with ModelServer(good) as server:
        models = [route(server.base_url, "gpt", fallback=["qwen-plus"]), route(server.base_url, "qwen")]
        code, said = await doctor(tmp_path, models, agents=agents, defaultModel="gpt-8")
    assert code == 0, said
    tried = [(cells(said, row)[0].strip(), cells(said, row)[1].strip()) for row in (1, 2, 3, 4)]
    assert tried == [("gpt", "gpt-8"), ("gpt", "gpt-7"), ("qwen", "qwen-max"), ("qwen", "qwen-plus")]


async def test_models_can_be_named(tmp_path: Path) -> None:
    async with ModelServer(good) as server:
        models = [route(server.base_url, "gpt"), route(server.base_url, "qwen")]
        code, said = await doctor(tmp_path, models, "--model", "gpt-1", "--model", "gpt-2")
        assert (code, [cells(said, row)[1].strip() for row in (1, 2)]) == (0, ["gpt-1", "gpt-2"])
        code, said = await doctor(tmp_path, models, "--model", "gemini")
        assert (code, "names must start with one of" in said) == (1, True)


async def test_a_route_without_a_name_to_try_is_said_and_is_not_well(tmp_path: Path) -> None:
    code, said = await doctor(tmp_path, [route("http://127.0.0.1:1", "qwen-")])
    assert (code, "name a model: --model qwen-…" in said) == (1, True)


async def test_what_a_model_does_not_do_is_not_asked(tmp_path: Path) -> None:
    async with ModelServer([Step(text=NUMBERS, chunk=1_000)]) as server:
        capabilities = {"tools": False, "reasoning": "never"}
        code, said = await doctor(tmp_path, [route(server.base_url, capabilities=capabilities)])
    assert [cell.strip() for cell in cells(said)][2:6] == ["ok", "in one piece", "-", "-"]
    assert code == 0


async def test_a_model_that_answers_without_the_tool_has_failed(tmp_path: Path) -> None:
    async with ModelServer(lambda _: Step(text="5555, I think")) as server:
        code, said = await doctor(tmp_path, [route(server.base_url)])
    assert [cell.strip() for cell in cells(said)][4:6] == ["FAILED", "not shown"]
    assert (code, "capabilities: {tools: false}" in said) == (1, True)


async def test_each_key_is_tried(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.headers["Authorization"] != f"Bearer {KEY}":
            words = {"error": {"message": f"bad key {request.headers['Authorization']}"}}
            return web.json_response(words, status=401)
        return web.Response(text='data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n')

    async with Serving(answer) as url:
        capabilities = {"tools": False, "reasoning": "never"}
        models = [route(url, apiKeys=["corp-other-secret-987"], capabilities=capabilities)]
        code, said = await doctor(tmp_path, models)
    assert (code, [cell.strip() for cell in cells(said)][2]) == (1, "FAILED")
    assert "key 2: the model provider refused the credential of route 'gpt-9'; check its apiKey" in said
    assert "secret" not in said


async def status(request: web.Request) -> web.Response:
    number = int(request.path.split("/")[1])
    key = request.headers["Authorization"]
    return web.json_response({"error": {"message": f"Not for {key}, friend."}}, status=number)


async def page(_: web.Request) -> web.Response:
    return web.Response(text="<!doctype html><title>Log in</title>", content_type="text/html")


async def silence(_: web.Request) -> web.Response:
    await asyncio.sleep(30)
    return web.Response()


@pytest.mark.parametrize(
    ("answer", "path", "auth", "words"),
    [
        (status, "401", "FAILED", "check its apiKey"),
        (status, "404", "-", "does not know the model 'gpt-9'; check the name and the route's baseUrl"),
        (status, "402", "FAILED", "top up the account"),
        (status, "429", "-", "rpm and tpm keep a route below"),
        (status, "500", "-", "has a problem (HTTP 500)"),
        (page, "", "-", "answered with a web page; check the route's baseUrl"),
        (silence, "", "-", "did not begin to answer within 0.5 s; is the server busy"),
    ],
    ids=["key", "model", "money", "rate", "server", "page", "silence"],
)
async def test_each_failure_says_what_to_do(tmp_path: Path, answer: Any, path: str, auth: str, words: str) -> None:
    async with Serving(answer) as url:
        code, said = await doctor(tmp_path, [route(f"{url}/{path}", firstTokenTimeout=0.5)])
    assert [cell.strip() for cell in cells(said)][2:6] == [auth, "FAILED", "-", "-"]
    assert code == 1
    assert words in said
    assert KEY not in said


async def test_a_server_that_is_not_there_is_said(tmp_path: Path) -> None:
    code, said = await doctor(tmp_path, [route("http://127.0.0.1:1/v1")])
    assert code == 1
    assert "no connection to the model provider (127.0.0.1: " in said
    assert "is baseUrl right, does the server run" in said


async def test_no_models_is_a_wrong_configuration(tmp_path: Path) -> None:
    code, said = await doctor(tmp_path, [])
    assert (code, said) == (2, "talaria: models: there is no route to try; add one\n")
