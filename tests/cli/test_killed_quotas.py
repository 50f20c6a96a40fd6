"""Fifty clients at once against a quota, on SQLite, over HTTP; and a process that is killed while their runs go on."""

import signal
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from talaria.testing.steps import Step
from tests.cli.process import ask, chat, provider, talaria
from tests.polling import wait_until

ROOM, CLIENTS = 20, 50
USED = (50, 20)


def noon() -> str:
    """A time zone in which it is about noon: no day ends during the test."""
    return f"Etc/GMT{datetime.now(UTC).hour - 12:+d}"


def test_fifty_clients_get_no_more_than_the_quota_also_after_a_kill(tmp_path: Path) -> None:
    quotas = {"tenants": {"*": {"requestsPerDay": ROOM, "tokensPerDay": 1_000_000}}}
    config: dict[str, Any] = {"quotas": quotas, "server": {"timezone": noon()}}
    with provider(tmp_path, [Step(text="Yes.", delay=1.0, usage=USED)] * (2 * ROOM)) as models:
        with talaria(tmp_path, config | models) as server:
            url = server.url()
            with ThreadPoolExecutor(CLIENTS) as clients:
                heads = list(clients.map(partial(begin, url), range(CLIENTS)))
            server.signal(signal.SIGKILL)
            server.wait()
        assert sorted(heads) == [200] * ROOM + [429] * (CLIENTS - ROOM)
        with talaria(tmp_path, config | models) as server:
            url = server.url()
            assert begin(url, 99) == 429
            wait_until(lambda: usage(url)["runs"] == ROOM, "all runs having ended")
            assert begin(url, 99) == 429
            total = usage(url)
            assert (total["requests"], total["modelCalls"]) == (ROOM, ROOM)
            assert (total["inputTokens"], total["outputTokens"]) == (ROOM * USED[0], ROOM * USED[1])


def begin(url: str, number: int) -> int:
    """Send a turn and leave; return the status."""
    with chat(url, sessionId=f"s-{number}") as stream:
        return stream.status


def usage(url: str) -> dict[str, Any]:
    return ask(url, "/ai-api/usage").json["usage"][0]
