"""Windows of quotas: the minute, hour and day of the server's time zone, also on days that are not 24 hours long."""

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.quotas.windows import HOUR, MINUTE, Per, Windows, window
from talaria.testing.clock import FakeClock

BERLIN, KOLKATA = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kolkata")
ZONES = (UTC, BERLIN, KOLKATA, ZoneInfo("America/Sao_Paulo"), ZoneInfo("Asia/Kathmandu"), ZoneInfo("Pacific/Apia"))


def ms(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


@pytest.mark.parametrize(
    ("per", "zone", "at", "start", "end"),
    [
        ("minute", UTC, "2026-11-30T10:00:59.999+00:00", "2026-11-30T10:00+00:00", "2026-11-30T10:01+00:00"),
        ("minute", UTC, "2026-11-30T10:01:00+00:00", "2026-11-30T10:01+00:00", "2026-11-30T10:02+00:00"),
        ("hour", UTC, "2026-11-30T10:59:59.999+00:00", "2026-11-30T10:00+00:00", "2026-11-30T11:00+00:00"),
        ("hour", KOLKATA, "2026-11-30T10:10+05:30", "2026-11-30T10:00+05:30", "2026-11-30T11:00+05:30"),
        ("day", BERLIN, "2026-11-30T23:59:59+01:00", "2026-11-30T00:00+01:00", "2026-12-01T00:00+01:00"),
        ("day", BERLIN, "2026-03-29T12:00+02:00", "2026-03-29T00:00+01:00", "2026-03-30T00:00+02:00"),
        ("day", BERLIN, "2026-10-25T02:30+01:00", "2026-10-25T00:00+02:00", "2026-10-26T00:00+01:00"),
    ],
)
def test_a_moment_is_in_its_window(per: Per, zone: tzinfo, at: str, start: str, end: str) -> None:
    assert window(per, ms(at), zone) == (ms(start), ms(end))


def test_days_on_which_clocks_are_changed_have_23_and_25_hours() -> None:
    spring, autumn = (window("day", ms(day), BERLIN) for day in ("2026-03-29T12:00+02:00", "2026-10-25T12:00+01:00"))
    assert [(end - start) // HOUR for start, end in (spring, autumn)] == [23, 25]


@given(st.integers(0, 4_102_444_800_000), st.sampled_from(ZONES))
def test_windows_hold_their_moment_and_end_where_minutes_do(at: int, zone: tzinfo) -> None:
    for per, longest in (("minute", MINUTE), ("hour", HOUR), ("day", 48 * HOUR)):
        start, end = window(per, at, zone)  # pyright: ignore[reportArgumentType]
        assert start <= at < end
        assert end - start <= longest
        assert start % MINUTE == 0


def test_the_open_window_changes_with_the_clock_also_back() -> None:
    clock = FakeClock(ms("2026-03-28T23:59:59+01:00"), BERLIN)
    windows = Windows(clock)
    first = windows.now("day")
    assert windows.now("day") is first
    clock.move(1)
    second = windows.now("day")
    assert second[0] == first[1] == clock.now()
    clock.move(23 * 3600 - 1)
    assert windows.now("day") is second
    clock.move(1)
    assert windows.now("day")[0] == second[1]
    clock.move(-3600)
    assert windows.now("day") == second
