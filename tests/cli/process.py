"""The server as a process, and a plain HTTP client for it."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from talaria.testing.steps import Step
from tests.polling import wait_until

LIMIT = 20


class Process:
    """`talaria serve` in a folder, listening on a free port. `python`: the command of another interpreter."""

    def __init__(
        self, folder: Path, config: dict[str, Any], *arguments: str, python: Sequence[str] = (sys.executable,)
    ) -> None:
        (folder / "talaria.yaml").write_text(json.dumps(config))
        self.folder = folder
        self._out = (folder / "out").open("wb")
        self._err = (folder / "err").open("ab")
        command = (*python, "-m", "talaria", "serve", "--port", "0", *arguments)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TALARIA_")}
        self._popen = subprocess.Popen(command, cwd=folder, stdout=self._out, stderr=self._err, env=environment)

    @property
    def output(self) -> str:
        return (self.folder / "out").read_text()

    @property
    def errors(self) -> str:
        return (self.folder / "err").read_text()

    def url(self) -> str:
        """Wait until it listens; return where."""
        line = wait_until(self._ready_line, f"talaria listening; it says {self.errors}", LIMIT)
        return line.removeprefix("Talaria listens on ")

    def _ready_line(self) -> str:
        assert self._popen.poll() is None, self.errors
        lines = self.output.splitlines()
        return lines[0] if lines else ""

    def signal(self, kind: signal.Signals = signal.SIGTERM) -> None:
        self._popen.send_signal(kind)

    def is_running(self) -> bool:
        return self._popen.poll() is None

    def wait(self, limit: float = LIMIT) -> int:
        """Return the exit code."""
        return self._popen.wait(limit)

    def close(self) -> None:
        if self._popen.poll() is None:
            self._popen.kill()
        self._popen.wait()
        self._out.close()
        self._err.close()


@contextmanager
def talaria(
    folder: Path, config: dict[str, Any], *arguments: str, python: Sequence[str] = (sys.executable,)
) -> Generator[Process]:
    process = Process(folder, config, *arguments, python=python)
    try:
        yield process
    finally:
        process.close()


@contextmanager
def provider(folder: Path, steps: Sequence[Step]) -> Generator[dict[str, Any]]:
    """Start a scripted model server; give the configuration that routes every model to it."""
    script = folder / "steps.json"
    script.write_bytes(msgspec.json.encode(list(steps)))
    command = (sys.executable, "-m", "talaria.testing.model_server", "--script", str(script), "--port", "0")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = process.stdout.readline().split()[1]
        try:
            models = [{"prefix": "", "baseUrl": f"http://127.0.0.1:{port}/v1", "apiKey": "k"}]
            yield {"models": models, "defaultModel": "m"}
        finally:
            process.kill()


class Answer(NamedTuple):
    """A whole answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Stream:
    """An answer, read event by event."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}

    def event(self) -> tuple[str, dict[str, Any]] | None:
        """Return the next event with an id, None at the end."""
        id_ = ""
        while line := self._response.readline().decode():
            name, _, value = line.rstrip("\n").partition(": ")
            if name == "id":
                id_ = value
            elif name == "data" and id_:
                return id_, json.loads(value)
        return None

    def until(self, kind: str) -> tuple[str, dict[str, Any]]:
        while (event := self.event()) is not None:
            if event[1]["type"] == kind:
                return event
        raise AssertionError(f"the stream ended without {kind}")

    def rest(self) -> list[tuple[str, dict[str, Any]]]:
        events: list[tuple[str, dict[str, Any]]] = []
        while (event := self.event()) is not None:
            events.append(event)
        return events


@contextmanager
def opened(url: str, method: str, path: str, body: Any, headers: dict[str, str]) -> Generator[http.client.HTTPResponse]:
    base = urlsplit(url)
    connection = http.client.HTTPConnection(base.netloc, timeout=LIMIT)
    data = None if body is None else json.dumps(body)
    try:
        connection.request(
            method, base.path + path, data, headers | ({} if body is None else {"Content-Type": "application/json"})
        )
        with connection.getresponse() as response:
            yield response
    finally:
        connection.close()


def ask(url: str, path: str, body: Any = None, token: str = "") -> Answer:
    """GET a path, or POST a body to it."""
    given = {"Authorization": f"Bearer {token}"} if token else {}
    with opened(url, "GET" if body is None else "POST", path, body, given) as response:
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, headers, response.read())


@contextmanager
def chat(url: str, query: str = "Hello", **fields: Any) -> Generator[Stream]:
    """Open the stream of a turn."""
    with opened(url, "POST", "/ai-api/chat/stream", {"query": query} | fields, {}) as response:
        yield Stream(response)


@contextmanager
def resume(url: str, run_id: str, after: str) -> Generator[Stream]:
    """Open the stream of a run after an event id."""
    with opened(url, "GET", f"/ai-api/runs/{run_id}/events", None, {"Last-Event-ID": after}) as response:
        yield Stream(response)
