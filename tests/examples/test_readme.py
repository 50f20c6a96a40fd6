"""What README shows of the server is what happens: its files, its requests in order, its answers."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from talaria.testing.steps import Step
from tests.cli.process import ask, chat, provider, resume, talaria
from tests.fences import fences
from tests.repository import ROOT

BLOCKS = fences(ROOT / "README.md")
CALL = {"order_id": "A-1001", "amount": "12.50", "on": "2026-03-02"}
STEPS = [Step(calls=(("refund", CALL),)), Step(text="Refunded.")]


def block(language: str, words: str) -> str:
    (found,) = (each.code for each in BLOCKS if each.language == language and words in each.code)
    return found


def body(command: str) -> Any:
    found = re.search(r"-d '(.*?)'", command, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_server_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    (tmp_path / "orders.py").write_text(block("python", "async def refund"))
    config = yaml.safe_load(block("yaml", "plugins: [orders]"))
    question = body(block("console", "/ai-api/chat/stream"))
    approval = body(block("console", "/ai-api/chat/approval"))
    assert "/ai-api/runs/RUN/events" in block("console", "Last-Event-ID")
    with provider(tmp_path, STEPS) as served:
        config["models"][0]["baseUrl"] = served["models"][0]["baseUrl"]
        with talaria(tmp_path, config) as process:
            url = process.url()
            with chat(url, **question) as stream:
                _, started = stream.until("run_started")
                last, asked = stream.until("approval_request")
            assert ask(url, "/ai-api/chat/approval", approval | {"requestId": asked["data"]}).status == 200
            with resume(url, started["data"], last) as stream:
                events = [event for _, event in stream.rest()]
    (result,) = (event["toolResults"][0]["result"] for event in events if event["type"] == "tool_result")
    assert result.startswith("refunded 12.50 of A-1001 on 2026-03-02, reference ")
    assert events[-1]["type"] == "finish"
