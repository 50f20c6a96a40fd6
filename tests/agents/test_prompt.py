"""The harness's own prompt is part of the product: a change of it is a change of behaviour, and shows here."""

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from talaria.agents.prompt import HARNESS_PROMPT, PROMPT_VERSION, sent_at, system_prompt

REVIEWED = Path(__file__).parents[1] / "golden" / f"harness_prompt.{PROMPT_VERSION}.txt"


def test_the_harness_prompt_is_what_was_reviewed_as_its_version() -> None:
    assert REVIEWED.read_text() == HARNESS_PROMPT, "a changed prompt takes a new PROMPT_VERSION and a file of its own"


def test_the_persona_comes_last_and_nothing_empty_is_written() -> None:
    assert system_prompt("H\n", " I ", "P") == "H\n\nI\n\nP"
    assert system_prompt("H", "", " ") == "H"


def test_a_message_says_weekday_date_time_and_zone() -> None:
    when = datetime(2026, 11, 30, 9, 5, tzinfo=ZoneInfo("Asia/Shanghai"))
    assert sent_at(when) == "[Sent Monday 2026-11-30 09:05, Asia/Shanghai (UTC+08:00)]"
