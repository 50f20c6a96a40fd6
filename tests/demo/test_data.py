"""The demo's data: the same for the same seed, true to its truth, and awkward at its edges."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.demo.data import World, make_world
from talaria.demo.records import Alert, day_span
from talaria.demo.scenarios import NOTES
from tests.demo.ground import SHANGHAI, TODAY, YESTERDAY, world

NEW_YORK = ZoneInfo("America/New_York")


def alerts_of(made: World, day: date) -> list[Alert]:
    """Count anew, as a careful reader would: by the range of the day, each id once."""
    span = made.truths[day].span
    return list({alert.id: alert for alert in made.alerts if span.start <= alert.starts_at < span.end}.values())


def test_the_same_seed_makes_the_same_data_and_another_one_makes_other_data() -> None:
    assert world(7) == world(7)
    assert world(7).alerts != world(8).alerts


def test_a_day_is_the_same_whatever_is_made_around_it() -> None:
    later = make_world(7, TODAY + timedelta(days=1), SHANGHAI)
    assert later.truths[YESTERDAY] == world().truths[YESTERDAY]
    assert alerts_of(later, YESTERDAY) == alerts_of(world(), YESTERDAY)


@given(seed=st.integers(0, 10_000), zone=st.sampled_from([SHANGHAI, NEW_YORK, ZoneInfo("Asia/Kolkata")]))
def test_the_truth_is_what_counting_the_records_of_the_day_gives(seed: int, zone: ZoneInfo) -> None:
    made = make_world(seed, TODAY, zone)
    truth, alerts = made.truths[YESTERDAY], alerts_of(made, YESTERDAY)
    lines = {line.id: line for line in made.lines if truth.span.start <= line.at < truth.span.end}.values()
    assert truth.alerts == len(alerts)
    assert truth.severities == Counter(alert.severity for alert in alerts)
    assert truth.services == Counter(alert.service for alert in alerts)
    assert truth.errors == Counter(line.service for line in lines if line.level == "ERROR" and line.service != NOTES)
    for incident in truth.incidents:
        mine = [alert for alert in alerts if alert.incident == incident.id]
        assert (incident.start, incident.end) == (min(a.starts_at for a in mine), max(a.ends_at for a in mine))
        causes = [line.message for line in lines if line.message.startswith(f"RCA {incident.id}:")]
        assert len(causes) == 1
        assert incident.code in causes[0]


def test_records_lie_on_both_sides_of_both_midnights() -> None:
    made = world()
    moment, span = timedelta(milliseconds=1), made.truths[YESTERDAY].span
    edges = {span.start - moment, span.start, span.end - moment, span.end}
    assert edges <= {alert.starts_at for alert in made.alerts}
    assert edges <= {line.at for line in made.lines}


def test_some_records_are_delivered_twice_and_the_copies_are_the_same() -> None:
    repeated = [alert for alert, times in Counter(world().alerts).items() if times > 1]
    assert len(repeated) > 5
    assert max(Counter(alert.id for alert in set(world().alerts)).values()) == 1


@pytest.mark.parametrize(("day", "hours"), [(date(2026, 3, 8), 23), (date(2026, 11, 1), 25), (date(2026, 6, 1), 24)])
def test_a_day_on_which_clocks_change_has_its_own_length(day: date, hours: int) -> None:
    span = day_span(day, NEW_YORK)
    assert span.seconds == hours * 3600
    assert span.start == datetime(day.year, day.month, day.day, tzinfo=NEW_YORK).astimezone(UTC)
