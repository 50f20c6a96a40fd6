"""Dates and times in the forms in which models write them: one meaning is read, two are refused."""

from datetime import date, datetime, time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.tools.arguments import bind, read_arguments
from talaria.tools.declaration import tool
from tests.tools.test_coercion import read, refused

DATE = {"type": "string", "format": "date"}
DATE_TIME = {"type": "string", "format": "date-time"}
TIME = {"type": "string", "format": "time"}


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-02",
        "2024年1月2日",
        "2024 年 01 月 02 日",
        "２０２４年１月２日",
        "2024年1月2号",
        "2024/1/2",
        "2024.1.2",
        "2024-1-2",
        "20240102",
        20240102,
        "2 Jan 2024",
        "2 January 2024",
        "2-Jan-2024",
        "2nd of January 2024",
        "Jan 2, 2024",
        "January 2nd 2024",
        "JAN. 2 2024",
        " 2024-01-02 ",
        "2024-01-02T00:00:00Z",
        "2024-01-02 00:00",
        1704153600,
        "1704153600",
        1704153600000,
        "1704153600000",
    ],
    ids=repr,
)
def test_a_date_is_read(text: Any) -> None:
    assert read(DATE, text) == "2024-01-02"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2024-01-02T13:30:00", "2024-01-02T13:30:00"),
        ("2024-01-02T13:30:00.123456789Z", "2024-01-02T13:30:00.123456789Z"),
        ("2024-01-02T13:30:00+08:00", "2024-01-02T13:30:00+08:00"),
        ("2024-01-02 13:30", "2024-01-02T13:30:00"),
        ("2024-01-02T13:30Z", "2024-01-02T13:30:00Z"),
        ("2024-01-02t13:30:00z", "2024-01-02T13:30:00Z"),
        ("2024-01-02 13:30:00 UTC", "2024-01-02T13:30:00Z"),
        ("2024-01-02T13:30:00+0800", "2024-01-02T13:30:00+08:00"),
        ("2024-01-02T13:30:00-05", "2024-01-02T13:30:00-05:00"),
        ("20240102T133000", "2024-01-02T13:30:00"),
        ("20240102T133000Z", "2024-01-02T13:30:00Z"),
        ("20240102133000", "2024-01-02T13:30:00"),
        ("2024年1月2日13时30分", "2024-01-02T13:30:00"),
        ("2024年1月2日 13时30分15秒", "2024-01-02T13:30:15"),
        ("2024年1月2日 13点", "2024-01-02T13:00:00"),
        ("2024年1月2日下午1点30分", "2024-01-02T13:30:00"),
        ("2024年1月2日 13:30", "2024-01-02T13:30:00"),
        ("2024/1/2 1:30 PM", "2024-01-02T13:30:00"),
        ("Jan 2, 2024 at 1:30pm", "2024-01-02T13:30:00"),
        ("January 2nd 2024, 1 p.m.", "2024-01-02T13:00:00"),
        ("2 Jan 2024 12:05 am", "2024-01-02T00:05:00"),
        ("2024-01-02", "2024-01-02T00:00:00"),
        (1704202200, "2024-01-02T13:30:00Z"),
        ("1704202200", "2024-01-02T13:30:00Z"),
        (1704202200.5, "2024-01-02T13:30:00.5Z"),
        (1704202200250, "2024-01-02T13:30:00.250Z"),
    ],
    ids=repr,
)
def test_a_date_and_time_is_read_and_no_offset_is_made_up(text: Any, wanted: str) -> None:
    assert read(DATE_TIME, text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("13:30:00", "13:30:00"),
        ("13:30", "13:30:00"),
        ("9:05", "09:05:00"),
        ("1:30 PM", "13:30:00"),
        ("12 am", "00:00:00"),
        ("T1330", "13:30:00"),
        ("13:30Z", "13:30:00Z"),
        ("13:30:00.5+08:00", "13:30:00.5+08:00"),
        ("13时30分", "13:30:00"),
        ("上午9点", "09:00:00"),
    ],
    ids=repr,
)
def test_a_time_is_read(text: str, wanted: str) -> None:
    assert read(TIME, text) == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("01/02/2024", "it could be 2024-01-02 or 2024-02-01; write the one that is meant"),
        ("1.2.2024", "it could be 2024-01-02 or 2024-02-01"),
        ("2024-02-30", "there is no day 2024-02-30"),
        ("2023年2月29日", "there is no day 2023-02-29"),
        ("30 Feb 2024", "there is no day 2024-02-30"),
        ("31/31/2024", "there is no such day in 2024"),
        ("01/02/24", "write the year with four digits, first"),
        ("tomorrow", "this is no date"),
        ("2024-01", "this is no date"),
        ("2024-01-02T13:30:00", "a date has no time of day"),
        (1704202200, "a date has no time of day"),
        ("2024-01-02 or 03", "'or 03' is no time of day"),
        (5, "this is no date"),
        ("2" * 200, "this is no date or time"),
    ],
    ids=repr,
)
def test_a_date_in_doubt_is_refused_and_says_why(text: Any, said: str) -> None:
    told = refused(DATE, text)
    assert told.startswith("- it: expected a date such as 2024-01-31, got ")
    assert f": {said}" in told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2024-01-02T25:00", "there is no time 25:00:00"),
        ("2024-01-02 13:61", "there is no time 13:61:00"),
        ("2024-01-02 13 pm", "there is no 13 o'clock in a half day"),
        ("2024-01-02T13:30:00+99:00", "there is no time zone"),
        ("01/02/2024 13:30", "it could be 2024-01-02 or 2024-02-01"),
        ("2024-01-02T", "'' is no time of day"),
    ],
    ids=repr,
)
def test_a_time_that_does_not_exist_is_refused(text: str, said: str) -> None:
    assert said in refused(DATE_TIME, text)


@pytest.mark.parametrize("text", ["1330", "3600", "noon", "24:00", "13:30:60"])
def test_a_time_in_doubt_is_refused(text: str) -> None:
    assert refused(TIME, text).startswith("- it: expected a time such as 13:30:00, got ")


@pytest.mark.parametrize("text", ["13/02/2024", "02/13/2024", "13.2.2024"])
def test_day_and_month_in_any_order_are_read_where_only_one_order_is_possible(text: str) -> None:
    assert read(DATE, text) == "2024-02-13"


def test_other_formats_are_the_business_of_the_tool() -> None:
    assert read({"type": "string", "format": "email"}, "nobody") == "nobody"
    assert read({"type": "string", "format": "uuid"}, "1") == "1"


@tool
def note(on: date, at: datetime, wake: time, until: date | None = None) -> None:
    """Note a date."""


def test_a_function_gets_values_of_its_own_types() -> None:
    text = '{"on": "2024年1月2日", "at": "2024/1/2 13:30", "wake": "7:05 am", "until": "Jan 3, 2024"}'
    assert bind(note, read_arguments(note, text).values) == {
        "on": date(2024, 1, 2),
        "at": datetime(2024, 1, 2, 13, 30),  # noqa: DTZ001 - no offset was given, none is made up
        "wake": time(7, 5),
        "until": date(2024, 1, 3),
    }


@given(st.dates())
def test_every_date_is_read_back_from_every_form(day: date) -> None:
    forms = (day.isoformat(), f"{day.year:04}年{day.month}月{day.day}日", f"{day.year:04}/{day.month}/{day.day}")
    assert {read(DATE, form) for form in forms} == {day.isoformat()}


@given(st.datetimes(timezones=st.none() | st.timezones()))
def test_every_moment_in_iso_form_stays_the_same_moment(moment: datetime) -> None:
    offset = moment.utcoffset()
    if offset is None or offset.total_seconds() % 60 == 0:
        for text in (moment.isoformat(), moment.isoformat(" ")):
            assert datetime.fromisoformat(read(DATE_TIME, text)) == datetime.fromisoformat(text)
