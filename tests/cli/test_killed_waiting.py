"""A run that waits for a person while its client leaves and its server is killed: it waits, and then goes on."""

import signal
from pathlib import Path
from typing import Any

import pytest

from talaria.testing.steps import Step
from tests.cli.mails import PLUGIN
from tests.cli.process import ask, chat, provider, resume, talaria
from tests.polling import wait_until

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "approval_request": ("send_mail", {"to": "bob"}),
    "question": ("AskUser", {"question": "Which colour?"}),
}


def _waits(url: str, run_id: str) -> list[dict[str, Any]]:
    """The open questions of a run, once it waits."""
    view = ask(url, f"/ai-api/runs/{run_id}").json
    return view["approvals"] if view["status"] == "waiting_approval" else []


@pytest.mark.parametrize("kind", CALLS)
def test_it_waits_over_a_kill_and_is_decided_once(tmp_path: Path, kind: str) -> None:
    (tmp_path / "mails.py").write_text(PLUGIN)
    with provider(tmp_path, [Step(calls=(CALLS[kind],)), Step(text="Done.")]) as models:
        config = models | {"store": {"url": "sqlite:///./talaria.db"}, "plugins": ["mails"]}
        with talaria(tmp_path, config) as server:
            with chat(server.url(), sessionId="s") as stream:
                last, question = stream.until(kind)
                run_id = stream.headers["x-run-id"]
            before = wait_until(lambda: _waits(server.url(), run_id), "the run waiting")
            server.signal(signal.SIGKILL)
            server.wait()
        with talaria(tmp_path, config) as server:
            url = server.url()
            after = wait_until(lambda: _waits(url, run_id), "the run waiting again")
            given = {"answer": "blue"} if kind == "question" else {}
            body = {"requestId": question["data"], "decision": "APPROVE"} | given
            first, again = (ask(url, "/ai-api/chat/approval", body) for _ in range(2))
            with resume(url, run_id, last) as rest:
                events = [event for _, event in rest.rest()]
    assert before == after
    assert after[0]["toolCalls"][0]["name"] == CALLS[kind][0]
    assert (first.status, again.status, again.json) == (200, 200, first.json)
    assert [event["type"] for event in events] == [
        *("approval_resolved", "tool_started", "tool_result", "token", "finish")
    ]
    assert events[2]["toolResults"][0]["result"] == (
        "The user answered:\nblue" if kind == "question" else "sent to bob"
    )
    assert kind == "question" or (tmp_path / "sent").read_text() == "bob\n"
