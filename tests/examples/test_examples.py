"""The examples do what they show: by their scripts alone, and with a model where one is configured."""

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec
import pytest

from talaria.testing.steps import Step
from tests.cli.process import ask, chat, provider
from tests.polling import wait_until
from tests.repository import ROOT

EXAMPLES = ROOT / "examples"
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("TALARIA_")}


def run(name: str, folder: Path, typed: str = "") -> str:
    """Run an example in a folder of its own; return what it prints."""
    command = (sys.executable, "-W", "error", str(EXAMPLES / name))
    done = subprocess.run(
        command, cwd=folder, input=typed, capture_output=True, text=True, check=False, timeout=50, env=ENVIRONMENT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_hello(tmp_path: Path) -> None:
    assert run("hello.py", tmp_path) == "717,710 people live in Oslo.\n"


def test_hello_asks_the_model_that_is_configured(tmp_path: Path) -> None:
    with provider(tmp_path, [Step(text="About 700,000.")]) as config:
        (tmp_path / "talaria.yaml").write_bytes(msgspec.json.encode(config))
        assert run("hello.py", tmp_path) == "About 700,000.\n"


def test_a_typed_tool_refuses_what_does_not_fit_and_runs_what_does(tmp_path: Path) -> None:
    _, refused, told, result, said = run("typed_tool.py", tmp_path).splitlines()
    assert refused.startswith("error The arguments for quote are not valid")
    assert told == '- weight: Input should be less than or equal to 30, got "40"'
    assert result == 'result {"total":"11.250","arrives":"2026-03-03"}'
    assert said == "11.25, and it arrives on 3 March."


def test_an_agent_of_ones_own_writes_anew_until_the_reviewer_agrees(tmp_path: Path) -> None:
    assert run("own_agent.py", tmp_path).splitlines() == [
        "review 1: Which cache?",
        "review 2: OK",
        "The cache of the web shop is warm. Pages load at once.",
    ]


@pytest.mark.parametrize(("typed", "sent"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_triage_sends_a_mail_only_after_a_yes(tmp_path: Path, typed: str, sent: bool) -> None:
    *_, desk, outbox = run("ticket_triage.py", tmp_path, typed).splitlines()
    assert desk == "desk {'T-1': 'billing, high', 'T-2': 'shipping, low'}"
    assert ("T-1" in outbox) is sent


@contextmanager
def uvicorn(folder: Path) -> Generator[str]:
    """Serve the FastAPI example on a free port; give its address."""
    log = folder / "log"
    command = (sys.executable, "-m", "uvicorn", "fastapi_app:app", "--app-dir", str(EXAMPLES), "--port", "0")
    with log.open("wb") as out, subprocess.Popen(command, cwd=folder, stderr=out, env=ENVIRONMENT) as process:
        try:
            yield wait_until(lambda: re.search(r"running on (http://[\d.:]+)", log.read_text()), "listening", 20)[1]  # pyright: ignore[reportOptionalSubscript]
            process.terminate()
            assert process.wait(20) in (0, -15), log.read_text()
            assert "Application shutdown complete" in log.read_text()
        finally:
            process.kill()


def test_fastapi_asks_an_agent_and_serves_all_of_talaria_below_a_path(tmp_path: Path) -> None:
    with uvicorn(tmp_path) as url:
        answer = ask(url, "/ask", {"user": "ann", "text": "How many A-1 are there?"})
        assert (answer.status, answer.json["text"]) == (200, "There are 12.")
        with chat(f"{url}/agents", "How many A-1 are there?", sessionId="s-1") as stream:
            assert "".join(event["data"] for _, event in stream.rest() if event["type"] == "token") == "There are 12."
        assert ask(url, "/agents/ai-api/runs/run_nobody").status == 404
        assert ask(url, "/agents/ai-api/sessions/s-1").json["turns"] == 1
        assert ask(url, "/nothing").status == 404


def test_sales_answers_in_two_languages_and_keeps_salaries_to_itself(tmp_path: Path) -> None:
    said = run("sales.py", tmp_path)
    with closing(sqlite3.connect(tmp_path / "sales.db")) as database:
        best = database.execute(
            "SELECT p.name, sum(pieces * price) FROM orders JOIN products p ON p.id = product_id "
            "GROUP BY 1 ORDER BY 2 DESC"
        ).fetchone()
        regions = dict(database.execute("SELECT region, sum(pieces) FROM orders GROUP BY 1").fetchall())
        assert database.execute("SELECT count(*) FROM orders WHERE day LIKE '2026-05-%'").fetchone() == (100,)
    assert f'"rows":[["{best[0]}",{best[1]}]]' in said
    assert all(f'["{region}",{pieces}]' in said for region, pieces in regions.items())
    assert re.search(r'"columns":\["月份","件数"\],"rows":\[\["2026-\d\d",\d+\]\]', said)
    assert "table salaries may not be read; there are 'orders', 'products'" in said
    assert "31000" not in said


def test_contracts_become_typed_values_that_their_texts_bear_out(tmp_path: Path) -> None:
    said = run("contracts.py", tmp_path)
    assert said.count("signed 2026-") == 10
    assert "the quote is not in the contract" not in said
    assert "  1280000.00 CNY, until 2026-06-30, law: 中华人民共和国" in said  # its dates came mistaken at first
    assert "  27500.00 EUR, until 2026-11-30, law: Austria" in said
    assert "04-nda-en: confidentiality, Acme Robotics, Inc. and Blue Mesa Capital LLC and Dr. Lena Ortiz" in said
    assert "  None None, until None, law: State of Delaware" in said


def test_every_example_is_run_by_a_test_and_shown_in_the_documents() -> None:
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    shown = "".join(path.read_text() for path in (ROOT / "docs").rglob("*.md"))
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    run_here = {name for name in names if re.search(rf"\"{name}[.:]", tests)}
    assert run_here == names == {name for name in names if f"# file: examples/{name}.py\n" in shown}
