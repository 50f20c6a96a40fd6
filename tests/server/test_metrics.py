"""GET /metrics over a real socket, as Prometheus reads it."""

from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from talaria.testing.model_server import ModelServer
from talaria.testing.scripted_model import Say, ScriptedModel
from talaria.testing.steps import Step
from tests.server.nginx import listening, session
from tests.server.serving import Shop, parked, serving

REFUND = {"order_id": "17", "amount": 5}


class Scraped:
    """The samples of one scrape, by name and labels."""

    def __init__(self, text: str) -> None:
        self.kinds = {family.name: family.type for family in text_string_to_metric_families(text)}
        self._samples = {
            (each.name, *sorted(each.labels.items())): each.value
            for family in text_string_to_metric_families(text)
            for each in family.samples
        }

    def __call__(self, name: str, **labels: str) -> float | None:
        return self._samples.get((f"talaria_{name}", *sorted(labels.items())))


async def scraped(client: Any, url: str) -> Scraped:
    async with client.get(f"{url}/metrics") as answer:
        assert answer.status == 200
        assert answer.headers["Content-Type"].startswith("text/plain; version=")
        return Scraped(await answer.text())


async def test_what_happened_is_counted_and_how_things_stand_is_told(tmp_path: Path) -> None:
    steps = (
        Step(calls=(("look_up", {"order_id": "17"}), ("nothing_like_it", {}))),
        Step(text="Found.", usage=(1_000_000, 20)),
        Step(calls=(("refund", REFUND),)),
    )
    async with (
        ModelServer(steps) as provider,
        serving(
            None,
            tools=Shop().tools(),
            models=[{"prefix": "mo", "baseUrl": provider.base_url, "price": {"input": 2, "currency": "EUR"}}],
            defaultModel="model-1",
            store={"url": f"sqlite:///{tmp_path / 'talaria.db'}"},
        ) as served,
        listening(served.app) as port,
        session() as client,
    ):
        url = f"http://127.0.0.1:{port}"
        async with client.post(f"{url}/ai-api/chat/stream", json={"query": "Where is order 17?"}) as answer:
            assert b'"finish"' in await answer.read()
        async with client.post(f"{url}/ai-api/chat/stream", json={"query": "Give it back."}) as answer:
            await parked(served, answer.headers["X-Run-Id"])
            found = await scraped(client, url)
    assert (found("runs_started_total"), found("runs_total", outcome="stop", error="")) == (2, 1)
    assert found("rounds_total") == 3
    assert found("model_calls_total", route="mo", outcome="tool_calls") == 2
    assert found("model_call_seconds_count", route="mo") == 3
    assert found("tokens_total", route="mo", kind="input") == 1_000_100
    assert found("tokens_total", route="mo", kind="output") == 60
    assert found("cost_total", route="mo", currency="EUR") == pytest.approx(2.0002)
    assert found("tool_calls_total", tool="look_up", outcome="ok") == 1
    assert found("tool_calls_total", tool="other", outcome="invalid") == 1
    assert found("tool_call_seconds_bucket", tool="look_up", le="+Inf") == 1
    assert (found("approvals_requested_total", reason="declared"), found("approvals_open")) == (1, 1)
    assert (found("runs_running"), found("runs_queued"), found("streams_open")) == (0, 0, 1)
    appends, entries = found("journal_appends_total"), found("journal_entries_total")
    commits, operations = found("journal_commit_seconds_count"), found("journal_commit_operations_sum")
    assert appends
    assert entries
    assert appends <= entries
    assert commits
    assert operations
    assert commits <= operations
    assert found.kinds["talaria_journal_commit_seconds"] == "histogram"


async def test_a_decision_closes_a_question_and_errors_have_their_code() -> None:
    model = ScriptedModel(Say(calls=()), Say(calls=()))
    async with serving(model) as served, listening(served.app) as port, session() as client:
        url = f"http://127.0.0.1:{port}"
        async with client.post(f"{url}/ai-api/chat/stream", json={"query": "x", "modelName": "whatever"}) as answer:
            await answer.read()
        found = await scraped(client, url)
    assert found("runs_total", outcome="error", error="output_invalid") == 1
    assert found("model_calls_total", route="other", outcome="stop") == 2, "no label takes what clients say"
    assert found("journal_commit_seconds_count") == 0
