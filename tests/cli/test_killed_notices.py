"""Notices and links outlive a process that is killed: none is lost, and one that comes twice has one id."""

import signal
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any
from urllib.parse import urlsplit

from talaria.testing.steps import Step
from tests.cli.process import ask, chat, opened, provider, talaria
from tests.notify.receiver import SECRET, Got
from tests.polling import wait_until

TOOL = """
from talaria import tool

@tool(approval=True)
def refund(amount: int) -> str:
    "Pay something back."
    with open("paid", "a") as file:
        file.write(f"{amount}\\n")
    return "paid"
"""


class Room:
    """A receiver on threads: it takes notices, or holds the connection until it is told to go on."""

    def __init__(self) -> None:
        self.got: list[Got] = []
        self.lock = Lock()
        self.takes = Event()
        self.over = Event()
        self.url = ""

    @property
    def taken(self) -> dict[str, set[str]]:
        """The ids of notices, by the run that they tell of."""
        by_run: defaultdict[str, set[str]] = defaultdict(set)
        with self.lock:
            for got in self.got:
                by_run[got.json["data"]["runId"]].add(got.id)
        return by_run


@contextmanager
def room() -> Generator[Room]:
    here = Room()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            got = Got({name.lower(): value for name, value in self.headers.items()}, {}, body)
            got.check()
            with here.lock:
                here.got.append(got)
            if not here.takes.is_set():
                here.over.wait()
                return
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    here.url = f"http://127.0.0.1:{server.server_address[1]}/"
    try:
        yield here
    finally:
        here.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


def told(room: Room, *on: str) -> dict[str, Any]:
    return {"notify": [{"on": list(on), "url": room.url, "secret": SECRET}]}


def test_every_run_that_ended_is_told_however_often_the_server_is_killed(tmp_path: Path) -> None:
    runs: list[str] = []
    with provider(tmp_path, [Step(text="Hello, you.")]) as models, room() as there:
        config = models | told(there, "finish", "error")
        for at in range(3):
            with talaria(tmp_path, config) as server:
                url = server.url()
                for number in range(4):
                    with chat(url, sessionId=f"s{at}-{number}") as stream:
                        runs.append(stream.headers["x-run-id"])
                        stream.until("finish")
                wait_until(lambda: there.got, "a notice being under way")
                server.signal(signal.SIGKILL)
                server.wait()
        there.takes.set()
        with talaria(tmp_path, config) as server:
            url = server.url()

            def nothing_waits() -> bool:
                return b'talaria_notify_waiting{target="0"} 0.0' in ask(url, "/metrics").body

            wait_until(nothing_waits, "every notice being taken", 30)
            taken = there.taken
            count = len(there.got)
    assert set(taken) == set(runs)
    assert all(len(ids) == 1 for ids in taken.values())
    assert count > len(runs)  # some came twice: what was under way when the server was killed


def test_a_link_of_a_killed_server_decides_on_the_next(tmp_path: Path) -> None:
    (tmp_path / "till.py").write_text(TOOL)
    steps = [Step(calls=(("refund", {"amount": 7}),)), Step(text="Paid.")]
    with provider(tmp_path, steps) as models, room() as there:
        there.takes.set()
        public = {"server": {"publicUrl": "https://agents.example.com"}, "plugins": ["till"]}
        config = models | told(there, "approval_request") | public
        with talaria(tmp_path, config) as server:
            with chat(server.url()) as stream:
                run = stream.headers["x-run-id"]
                stream.until("approval_request")
                wait_until(lambda: there.got, "the question being told")
                server.signal(signal.SIGKILL)
            server.wait()
        path = urlsplit(str(there.got[0].json["data"]["url"])).path
        with talaria(tmp_path, config) as server:
            url = server.url()
            assert b"refund" in ask(url, path).body
            with opened(url, "POST", f"{path}?decision=approve", None, {}) as answer:
                assert (answer.status, b"Approved" in answer.read()) == (200, True)
            wait_until(lambda: ask(url, f"/ai-api/runs/{run}").json["status"] == "finished", "the run going on")
            assert ask(url, path).status == 410
            token = path.rpartition("/")[2]
            assert token not in server.errors
            assert SECRET not in server.errors
    assert (tmp_path / "paid").read_text() == "7\n"
