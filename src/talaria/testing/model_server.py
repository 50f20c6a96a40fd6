"""A scripted OpenAI-compatible server on loopback: real sockets, real SSE, answers from a script.

In a test: `async with ModelServer([Step(text="Hello")]) as server:` and `server.base_url`.
As a process: `python -m talaria.testing.model_server --script steps.json --port 0` prints `PORT n`; the file holds a
list of steps, one for each model call after the newest user message (the last one is said again and again).
Instead of a file, `--script module:function` names a function that makes a step of a request's body.
"""

import argparse
import asyncio
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import msgspec
from aiohttp import web

from talaria.testing.steps import Step, chunks, document

Script = Callable[[dict[str, Any]], Step]
_SHOWN = 500
_EXAMPLE = '[{"calls": [["stock", {"article": "A-1"}]]}, {"text": "Twelve."}]'


class Received(msgspec.Struct, frozen=True, gc=False):
    """A request that the server got. `body` is its JSON."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


def since_user(body: dict[str, Any], role: str) -> int:
    """Return how many messages of a role a request has after its newest user message: where in the turn it stands."""
    count = 0
    for message in reversed(body.get("messages", [])):
        if message.get("role") == "user":
            break
        count += message.get("role") == role
    return count


def by_call(steps: Sequence[Step]) -> Script:
    """Return a script without state: step n answers the n-th model call of a turn, the last one all that follow."""
    return lambda body: steps[min(since_user(body, "assistant"), len(steps) - 1)]


class ModelServer:
    """Serves chat completions from a list of steps, one a request, or from a function of the request's body.

    `requests` are all requests so far; `closed_early` counts streams whose client went away before the end. Call
    `check()` at the end of a test.
    """

    def __init__(self, script: Iterable[Step] | Script, *, port: int = 0) -> None:
        self._steps = None if callable(script) else list(script)
        self._script: Script = script if callable(script) else self._in_order
        self._unexpected: list[str] = []
        self._runner: web.AppRunner | None = None
        self._wanted_port = port
        self._changed = asyncio.Event()
        self.requests: list[Received] = []
        self.closed_early = 0
        self.port = 0

    @property
    def base_url(self) -> str:
        """What a route has as baseUrl."""
        return f"http://127.0.0.1:{self.port}/v1"

    def check(self) -> None:
        """Fail when steps were left over, or when more was asked than scripted.

        Raises:
            AssertionError: says which.
        """
        count, asked = len(self._unexpected), "\n- ".join(("", *self._unexpected))
        assert not count, f"the server was asked {count} more times than scripted:{asked}"
        left = self._steps or []
        last = _asked(self.requests[-1].body) if self.requests else "nothing"
        assert not left, (
            f"{len(left)} steps were never asked for; the next one is {left[0]!r}; the server was last asked {last}"
        )

    def _in_order(self, body: dict[str, Any]) -> Step:
        if self._steps:
            return self._steps.pop(0)
        self._unexpected.append(_asked(body))
        message = f"the script is over; this was asked: {self._unexpected[-1]}"
        return Step(status=500, body={"error": {"message": message, "type": "script_is_over"}})

    async def start(self) -> None:
        """Listen."""
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/{path:.*}", self._answer)
        app.router.add_get("/{path:.*}", self._models)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.5)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._wanted_port)
        await site.start()
        self.port = cast("int", self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Stop listening and drop all connections."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def __aenter__(self) -> "ModelServer":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def wait_until(self, condition: Callable[[], bool], limit: float = 5.0) -> None:
        """Wait until the condition holds; it is looked at whenever a request comes or a client goes.

        Raises:
            TimeoutError: it does not within `limit` seconds.
        """
        async with asyncio.timeout(limit):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": []})

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = cast("dict[str, Any]", await request.json())
        self.requests.append(Received(request.path, dict(request.headers), body))
        self._changed.set()
        number = len(self.requests)
        step = self._script(body)
        if step.delay:
            await asyncio.sleep(step.delay)
        if step.status != 200:
            return web.json_response(step.body, status=step.status, headers=step.headers)
        model = str(body.get("model", ""))
        if not step.stream or not body.get("stream"):
            data = document(step, model, number)
            return web.Response(body=data, content_type="application/json", headers=step.headers)
        return await self._stream(request, step, chunks(step, model, number))

    async def _stream(self, request: web.Request, step: Step, pieces: list[bytes]) -> web.StreamResponse:
        if step.raw is not None:
            pieces = [piece.encode() for piece in step.raw]
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"} | step.headers)
        try:
            await response.prepare(request)
            for piece in pieces[: step.cut_after]:
                if step.pace:
                    await asyncio.sleep(step.pace)
                await response.write(piece)
            if step.cut_after is not None and request.transport is not None:
                request.transport.close()
            if step.hang:
                await asyncio.Event().wait()
            await response.write_eof()
        except (asyncio.CancelledError, ConnectionError):
            self.closed_early += 1
            self._changed.set()
            raise
        return response


def _asked(body: dict[str, Any]) -> str:
    """What a request asks, in short: the newest message."""
    messages: list[Any] = body.get("messages", [])
    shown = msgspec.json.encode(messages[-1]).decode()[:_SHOWN] if messages else "without a message"
    return f"{shown} (message {len(messages)})"


def load_script(name: str) -> Script:
    """Return the script that `--script` names: a function, as module:function, or a JSON file of steps."""
    module, colon, function = name.partition(":")
    if colon and not Path(name).exists():
        return cast("Script", getattr(import_module(module), function))
    try:
        steps = msgspec.json.decode(Path(name).read_bytes(), type=tuple[Step, ...])
    except OSError as error:
        raise SystemExit(f"--script: cannot read {name}: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise SystemExit(f"--script: {name} is no list of steps such as {_EXAMPLE}: {error}") from error
    return by_call(steps)


async def _serve(script: Script, port: int) -> None:
    async with ModelServer(script, port=port) as server:
        print(f"PORT {server.port}", flush=True)  # noqa: T201 - the word that the starting process waits for
        await asyncio.Event().wait()


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve a script until the process is ended."""
    parser = argparse.ArgumentParser(prog="python -m talaria.testing.model_server", description=main.__doc__)
    parser.add_argument("--script", required=True, help="a JSON file with a list of steps, or module:function")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args(arguments)
    asyncio.run(_serve(load_script(cast("str", options.script)), cast("int", options.port)))


if __name__ == "__main__":
    main()
