"""The scripted analyst: it works out the day, asks for everything, and writes only what the tools told it."""

import json

import pytest

from talaria.demo.checks import figure_checks
from talaria.demo.figures import read_figures
from talaria.testing.model_server import load_script
from talaria.testing.ops_report.conversation import read_day
from talaria.testing.ops_report.script import analyst
from tests.demo.analysis import analyse, opening
from tests.demo.ground import END, SENT, START, YESTERDAY, world


@pytest.mark.parametrize("seed", [7, 8, 9])
async def test_its_report_is_right(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    records = world(seed)
    steps = await analyse(records, monkeypatch)
    checks = figure_checks(read_figures(steps[-1].text), records.truths[YESTERDAY])
    assert [check.name for check in checks if not check.passed] == []


async def test_its_report_is_wrong_when_a_page_was_lost_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    records = world()
    steps = await analyse(records, monkeypatch, lost_page=2)
    checks = figure_checks(read_figures(steps[-1].text), records.truths[YESTERDAY])
    assert "report: alerts in total" in [check.name for check in checks if not check.passed]


async def test_it_asks_for_first_pages_at_once_then_for_the_others_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, report = await analyse(world(), monkeypatch)
    assert [name for name, _ in first.calls] == ["query_alerts"] + ["query_logs"] * 7
    assert {(arguments["start"], arguments["end"]) for _, arguments in first.calls} == {(START, END)}
    assert {"query_alerts", "query_logs"} == {name for name, _ in second.calls}
    assert all(arguments["page"] > 1 for _, arguments in second.calls)
    assert report.calls == ()


def test_what_a_tool_could_not_tell_is_said_and_not_made_up() -> None:
    function = {"name": "query_alerts", "arguments": json.dumps({"start": START, "end": END})}
    call = {"id": "a", "type": "function", "function": function}
    failed = {"role": "tool", "tool_call_id": "a", "content": "ServiceError: the service answered 503"}
    step = analyst({"messages": [*opening(), {"role": "assistant", "content": "", "tool_calls": [call]}, failed]})
    assert "I could not read an answer. query_alerts: ServiceError: the service answered 503" in step.text
    assert read_figures(step.text).alerts == 0


NEW_YORK = "America/New_York (UTC-05:00)"


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        (f"Generate yesterday's report. {SENT}", START, END),
        (
            f"Of today. [Sent Monday 2026-11-02 09:00, {NEW_YORK}]",
            "2026-11-02T00:00:00-05:00",
            "2026-11-03T00:00:00-05:00",
        ),
        (
            f"昨天的日报 [Sent Monday 2026-11-02 00:00, {NEW_YORK}]",
            "2026-11-01T00:00:00-04:00",
            "2026-11-02T00:00:00-05:00",
        ),
        ("[Sent Friday 2027-01-01 23:59, local (UTC-03:30)]", "2026-12-31T00:00:00-03:30", "2027-01-01T00:00:00-03:30"),
        (
            "[Sent Friday 2027-01-01 00:00, Etc/UTC (UTC+00:00)]",
            "2026-12-31T00:00:00+00:00",
            "2027-01-01T00:00:00+00:00",
        ),
    ],
)
def test_the_day_follows_from_the_date_line(text: str, start: str, end: str) -> None:
    day = read_day(opening(text))
    assert day is not None
    assert (day.start.isoformat(), day.end.isoformat()) == (start, end)


def test_without_a_date_line_it_asks_for_nothing() -> None:
    step = analyst({"messages": opening("Generate yesterday's report.")})
    assert step.calls == ()
    assert "does not say when it was sent" in step.text


def test_the_model_server_finds_it_by_name() -> None:
    assert load_script("talaria.testing.ops_report.script:analyst") is analyst
