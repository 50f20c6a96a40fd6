"""Retry-After in all its forms, and what is made of it."""

import time

import pytest

from talaria.core.errors import ModelRejected, ModelUnavailable, StreamTruncated
from talaria.models.retry import Retries
from talaria.models.retry_after import retry_after
from tests.models.fakes import NOW
from tests.models.field_cases import field_case

WAITS = [3, 0, 1.5, 0, 7, 0, 0.25, 0.25, 9_999_999_999, 2_306_404_800, None, None, None, None, 90, None]


def test_every_form_of_the_field_case_is_understood() -> None:
    headers = field_case("n01")["input"]["headers"]
    assert [retry_after(tuple(header.items()), NOW) for header in headers] == WAITS


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("-inf", None),
        ("1e999", None),
        ("Mon, 30 Nov 2026 12:00:07", 7),
        ("Mon, 99 Nov 2026", None),
        (" 2 ", 2),
        ("½", None),
    ],
)
def test_odd_values_are_harmless(value: str, seconds: float | None) -> None:
    assert retry_after([("retry-after", value)], NOW) == seconds


def test_a_reset_time_counts_only_for_a_limit_that_is_used_up() -> None:
    headers = [("x-ratelimit-reset-requests", "6m0s"), ("x-ratelimit-remaining-requests", "12")]
    assert retry_after(headers, NOW) is None
    assert retry_after([*headers, ("x-ratelimit-reset-tokens", "120ms")], NOW) == pytest.approx(0.12)


def waits(retries: Retries, error: ModelUnavailable, jitter_of: int = 10) -> list[float]:
    found: list[float] = []
    while len(found) < jitter_of and (wait := retries.next_wait(error)) is not None:
        found.append(wait)
    return found


def test_backoff_doubles_up_to_a_limit_with_full_jitter() -> None:
    assert waits(Retries(6, lambda: 1.0), ModelUnavailable("x")) == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]
    assert waits(Retries(2, lambda: 0.0), ModelUnavailable("x")) == [0.0, 0.0]


def test_what_the_provider_asks_for_is_waited_up_to_a_minute_each_and_two_in_all() -> None:
    assert waits(Retries(5, lambda: 0.0), ModelUnavailable("x", retry_after=3)) == [3.0] * 5
    assert waits(Retries(5, lambda: 0.0), ModelUnavailable("x", retry_after=50)) == [50.0] * 2
    assert waits(Retries(5, lambda: 0.0), ModelUnavailable("x", retry_after=61)) == []


def test_a_refused_request_is_not_sent_again_and_a_truncated_stream_is() -> None:
    assert Retries(5).next_wait(ModelRejected("no")) is None
    assert Retries(5).next_wait(StreamTruncated("half")) is not None


def test_a_date_that_names_no_zone_is_in_utc_wherever_this_machine_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        assert retry_after([("retry-after", "Mon, 30 Nov 2026 12:00:07")], NOW) == 7
    finally:
        monkeypatch.undo()
        time.tzset()
