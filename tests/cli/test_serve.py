"""`talaria serve` as a process: it starts, answers, and ends in order."""

import json
import signal
from pathlib import Path

import pytest

from talaria.testing.steps import Step
from tests.cli.process import ask, chat, provider, resume, talaria
from tests.polling import wait_until

QUICK = Step(text="Hello, you.")
SLOW = Step(text="one two three four five six seven", chunk=4, pace=0.1)
ENDLESS = Step(text="word " * 200, chunk=5, pace=0.1)


def test_it_says_where_it_listens_once_and_serves_a_turn(tmp_path: Path) -> None:
    with provider(tmp_path, [QUICK]) as models, talaria(tmp_path, models) as server:
        url = server.url()
        with chat(url) as stream:
            events = stream.rest()
        ready = ask(url, "/readyz")
        server.signal()
        assert server.wait() == 0
    assert server.output == f"Talaria listens on {url}\n"
    assert "".join(event["data"] for _, event in events if event["type"] == "token") == "Hello, you."
    assert ready.status == 200
    assert "Traceback" not in server.errors


def test_it_says_what_is_on_what_is_off_and_why(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        "from talaria import tool\n"
        "@tool(approval=True)\n"
        "def refund(order: str) -> str:\n"
        "    'Refund an order.'\n"
        "    return order\n"
    )
    route = {"prefix": "gpt", "baseUrl": "http://me:hidden-too@127.0.0.1:9/v1", "apiKey": "sk-hidden-hidden"}
    told = {"on": ["finish"], "url": "https://u:hidden-too@chat.example/hidden", "secret": "hidden"}
    config = {"models": [route], "plugins": ["shop"], "store": {"url": "memory://"}, "notify": [told]}
    config |= {"sandbox": {"kind": "none"}}
    with talaria(tmp_path, config) as server:
        url = server.url()
    said = dict(line.strip().split(maxsplit=1) for line in server.errors.splitlines())
    assert said["store"].startswith("off  store.url is memory://")
    assert said["models"] == "on   gpt → openai at 127.0.0.1:9, 1 key; no defaultModel"
    assert said["tools"] == "on   1 of shop: refund; built in: AskUser, TodoWrite, memory"
    assert said["approvals"] == "on   refund; the run's own user decides, within 300 s"
    assert said["policy"].startswith("off  policy.rules is empty")
    assert said["auth"].startswith("off  auth.kind is none")
    assert said["notify"] == "on   json at chat.example: finish; links that decide: none, server.publicUrl is not set"
    assert said["metrics"] == f"on   {url}/metrics"
    assert "hidden" not in server.errors
    assert said["secrets"].startswith("off  secrets.key is not set")
    assert len(server.errors.splitlines()) < 24


def test_what_is_on_record_is_there_after_a_restart(tmp_path: Path) -> None:
    with provider(tmp_path, [QUICK]) as models:
        with talaria(tmp_path, models) as server:
            with chat(server.url(), sessionId="s") as stream:
                stream.rest()
            server.signal(signal.SIGINT)
            assert server.wait() == 0
        with talaria(tmp_path, models) as server:
            messages = ask(server.url(), "/ai-api/sessions/s").json["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"]


def test_a_run_that_ends_within_the_grace_is_told_to_the_end(tmp_path: Path) -> None:
    with provider(tmp_path, [SLOW]) as models, talaria(tmp_path, models) as server:
        url = server.url()
        with chat(url) as stream:
            stream.until("token")
            server.signal()
            wait_until(lambda: ask(url, "/readyz").status == 503, "the server saying that it stops")
            refused = ask(url, "/ai-api/chat/stream", {"query": "Hello"})
            events = stream.rest()
        assert server.wait() == 0
    assert events[-1][1]["type"] == "finish"
    assert (refused.status, int(refused.headers["retry-after"]) > 0) == (503, True)


def test_a_run_that_outlasts_the_grace_resumes_at_the_next_start(tmp_path: Path) -> None:
    with provider(tmp_path, [ENDLESS]) as models, talaria(tmp_path, models | {"server": {"grace": 0.3}}) as server:
        with chat(server.url()) as stream:
            run_id = stream.headers["x-run-id"]
            stream.until("token")
            server.signal()
            seen = stream.rest()
        assert server.wait() == 0
    assert {event["type"] for _, event in seen} == {"token"}
    with (
        provider(tmp_path, [QUICK]) as models,
        talaria(tmp_path, models) as server,
        resume(server.url(), run_id, seen[-1][0]) as back,
    ):
        rest = [event for _, event in back.rest()]
    assert [rest[0]["type"], rest[-1]["type"]] == ["rewind", "finish"]
    assert "".join(event["data"] for event in rest if event["type"] == "token") == "Hello, you."


def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    with provider(tmp_path, [ENDLESS]) as models, talaria(tmp_path, models | {"server": {"grace": 60}}) as server:
        url = server.url()
        with chat(url) as stream:
            stream.until("token")
            server.signal()
            wait_until(lambda: ask(url, "/readyz").status == 503, "the server saying that it stops")
            assert server.is_running()
            server.signal()
            assert server.wait(4) == 0


def test_logs_for_machines_are_one_json_document_a_line(tmp_path: Path) -> None:
    with provider(tmp_path, [QUICK]) as models, talaria(tmp_path, models | {"telemetry": {"logs": "json"}}) as server:
        with chat(server.url()) as stream:
            stream.rest()
        server.signal()
        server.wait()
    lines = [json.loads(line) for line in server.errors.splitlines()]
    assert {"model_finished", "run_finished", "stopping"} <= {line["event"] for line in lines}
    assert [line["auth"][:4] for line in lines if line["event"] == "serving"] == ["off:"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_it_listens_on_loopback_however_that_is_written(tmp_path: Path, host: str) -> None:
    with talaria(tmp_path, {"store": {"url": "memory://"}}, "--host", host) as server:
        assert ask(server.url(), "/healthz").status == 200
