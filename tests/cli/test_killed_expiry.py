"""Sessions expire and go at their time, also when the process that served them was killed."""

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

from talaria.testing.steps import Step
from tests.cli.process import ask, chat, provider, talaria
from tests.polling import wait_until

SESSION = "/ai-api/sessions/s"


def test_what_expired_while_nobody_was_there_is_gone_and_then_deleted(tmp_path: Path) -> None:
    with provider(tmp_path, [Step(text="Hello, you.")] * 2) as models:
        with talaria(tmp_path, models) as server:
            with chat(server.url(), query="Remember marzipan", sessionId="s") as stream:
                run = stream.headers["x-run-id"]
                stream.rest()
            server.signal(signal.SIGKILL)
            server.wait()
        with talaria(tmp_path, models | {"sessions": {"idleTtl": 0.1}}) as server:
            url = server.url()
            wait_until(lambda: ask(url, SESSION).status == 404, "the session being over")
            assert ask(url, f"/ai-api/runs/{run}").status == 404
            with chat(url, query="Begin anew", sessionId="s") as stream:
                stream.rest()
            server.signal(signal.SIGKILL)
            server.wait()
        with talaria(tmp_path, models) as server:  # what was over stays over
            view = ask(server.url(), SESSION).json
            assert [message["content"] for message in view["messages"]] == ["Begin anew", "Hello, you."]
            assert ask(server.url(), f"/ai-api/runs/{run}").status == 404
            server.signal(signal.SIGKILL)
            server.wait()
        with talaria(tmp_path, models | {"sessions": {"retention": 0.1}}) as server:
            url = server.url()
            wait_until(lambda: ask(url, "/ai-api/sessions").json["sessions"] == [], "the session being deleted")
    with closing(sqlite3.connect(tmp_path / "talaria.db")) as database:
        left = [database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("entry", "letter")]
        kinds = database.execute("SELECT DISTINCT kind FROM idx ORDER BY kind").fetchall()
    assert (left, kinds) == ([0, 0], [("deployment",), ("usage",)])
