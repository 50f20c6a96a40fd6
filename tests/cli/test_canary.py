"""Secrets are put in wherever they come in, given away in every way, and looked for wherever they could end."""

import asyncio
import json
import secrets
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from talaria.runtime.configure import read_settings
from talaria.testing.model_server import ModelServer, since_user
from talaria.testing.steps import Step
from tests.cli.leaky import forms
from tests.cli.process import ask, chat, talaria

CALLS = ("leak", "leak_outside", "fail", "stream", "remember", "apart")
SECRETS = {
    "token": "sk-" + secrets.token_hex(12),
    "odd": 'p@ss "w0rd"/+=<\\☃> ' + secrets.token_hex(4),
    "html": f"<b>&{secrets.token_hex(4)}'&",
}
ROUTE = {"key": "sk-route-" + secrets.token_hex(12), "header": "hdr/+=" + secrets.token_hex(12)}
NOTIFY = {"secret": "whsec-" + secrets.token_hex(12), "address": "hook" + secrets.token_hex(12)}
"""A target that nobody answers at: its address is a secret, too."""
SEALING = "seal " + secrets.token_hex(12)


def found(text: str, values: list[str]) -> list[str]:
    """What gives a secret away in a text, also where it is written as JSON once more."""
    told = [form for value in values for form in (*forms(value), value[3:-3])]
    told += [json.dumps(form, ensure_ascii=ascii_only)[1:-1] for form in told for ascii_only in (True, False)]
    return [form for form in told if len(form) > 5 and form in text]


def answers(body: dict[str, Any]) -> Step:
    """What the model says: every leak in turn, then errors that repeat its credentials, then a call to agree to."""
    query = next(each["content"] for each in reversed(body["messages"]) if each["role"] == "user")
    at = since_user(body, "assistant")
    if "Fail" in str(query):
        return Step(status=401, body={"error": {"message": " ".join(forms(ROUTE["key"]) + forms(ROUTE["header"]))}})
    if "Pay" in str(query):
        return Step(calls=(("pay", {"to": "ann"}),)) if at == 0 else Step(text="Paid.")
    if "Long" in str(query):
        return Step(calls=(("leak_long", {}),)) if at == 0 else Step(text="Withheld.")
    return Step(calls=((CALLS[at], {}),)) if at < len(CALLS) else Step(text="Done.")


def config(base_url: str) -> dict[str, Any]:
    route = {"prefix": "", "baseUrl": base_url, "apiKey": ROUTE["key"], "headers": {"X-Token": ROUTE["header"]}}
    return {
        "models": [route | {"retries": 0}],
        "defaultModel": "m",
        "plugins": ["leaky"],
        "secrets": {"key": SEALING},
        "notify": [
            {
                "on": ["approval_request", "finish", "error"],
                "url": f"http://127.0.0.1:9/{NOTIFY['address']}",
                "secret": NOTIFY["secret"],
            }
        ],
        "telemetry": {"logs": "json", "transcripts": "transcripts"},
    }


def first_process(folder: Path, settings: dict[str, Any]) -> tuple[list[str], str]:
    """Every leak, live; it is killed while a call waits for a person."""
    told: list[str] = []
    with talaria(folder, settings) as server:
        url = server.url()
        for query in ("Leak", "Long", "Fail"):
            with chat(url, query=query, sessionId=query, toolContext=SECRETS) as stream:
                run = stream.headers["x-run-id"]
                told.append(str(stream.rest()))
            told.append(ask(url, f"/ai-api/runs/{run}/events").body.decode())
            told.append(ask(url, f"/ai-api/sessions/{query}").body.decode())
        told.append(ask(url, "/ai-api/chat/stream", {"query": 1, "toolContext": SECRETS}).body.decode())
        told.append(ask(url, "/ai-api/chat/stream", {"query": "x", "toolContext": [SECRETS]}).body.decode())
        told += [ask(url, path).body.decode() for path in ("/metrics", "/ai-api/sessions", "/ai-api/tools")]
        with chat(url, query="Pay", sessionId="Pay", toolContext=SECRETS) as stream:
            run = stream.headers["x-run-id"]
            told.append(str(stream.until("approval_request")))
        server.signal(signal.SIGKILL)
        server.wait()
        told += [server.output, server.errors]
    return told, run


def second_process(folder: Path, settings: dict[str, Any], run: str) -> list[str]:
    """The run goes on with its secrets."""
    told: list[str] = []
    with talaria(folder, settings) as server:
        url = server.url()
        (question,) = ask(url, "/ai-api/approvals").json["approvals"]
        told.append(
            ask(
                url,
                "/ai-api/chat/approval",
                {"requestId": question["requestId"], "decision": "APPROVE", "arguments": {"to": "bob"}},
            ).body.decode()
        )
        told.append(ask(url, f"/ai-api/runs/{run}/events").body.decode())
        server.signal(signal.SIGKILL)
        server.wait()
        told += [server.output, server.errors]
    assert "paid to bob with [masked]" in str(told)
    return told


def commands(folder: Path, run: str) -> list[str]:
    """What the commands print about it."""
    said: list[str] = []
    for command in (("doctor", "--run", run), ("record", run), ("doctor",)):
        done = subprocess.run(
            [sys.executable, "-m", "talaria", *command],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )
        said += [done.stdout, done.stderr]
    return said


def read_all(folder: Path) -> dict[str, str]:
    """All files: the store with its log and free pages, transcripts, logs; and their names."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.name != "talaria.yaml"]
    return {str(file): f"{file}\n" + file.read_bytes().decode("utf-8", "replace") for file in files}


@pytest.mark.timeout(180)
async def test_no_secret_is_to_be_found_anywhere(tmp_path: Path) -> None:
    (tmp_path / "leaky.py").write_text(Path(__file__).with_name("leaky.py").read_text())
    async with ModelServer(answers) as provider:
        settings = config(provider.base_url)
        told, run = await asyncio.to_thread(first_process, tmp_path, settings)
        told += await asyncio.to_thread(second_process, tmp_path, settings, run)
        files = read_all(tmp_path)
        told += await asyncio.to_thread(commands, tmp_path, run)
        asked = [str(request.body) for request in provider.requests]
    read = await asyncio.to_thread(read_settings, tmp_path / "talaria.yaml")
    told += [repr(read), str(read)]
    assert len(files) > 20
    assert any(name.endswith("-wal") for name in files)
    values = [*SECRETS.values(), *ROUTE.values(), *NOTIFY.values(), SEALING]
    texts = {
        **files,
        **read_all(tmp_path / "transcripts"),
        **{f"told {at}": text for at, text in enumerate(told)},
        **{f"asked {at}": text for at, text in enumerate(asked)},
    }
    leaks = {name: hits for name, text in texts.items() if (hits := found(text, values))}
    assert leaks == {}
    assert str(told).count("[masked]") > 100
    assert len(asked) > 10
