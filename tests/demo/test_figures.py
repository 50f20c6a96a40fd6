"""Figures are read out of a report in any reasonable form, and what is not there stays empty."""

from datetime import UTC, datetime

from talaria.demo.figures import Figures, read_figures


def report(block: str) -> str:
    return f"# Report\n\n```json\n{{}}\n```\n\n## Figures\n\n```json\n{block}\n```\n"


def test_counts_are_read_as_an_object_as_pairs_and_as_objects() -> None:
    forms = ('{"a": 3, "b": "2"}', '[["a", 3], ["b", 2]]', '[{"service": "a", "alerts": 3}, {"name": "b", "count": 2}]')
    for form in forms:
        assert read_figures(report(f'{{"topServices": {form}}}')).top == (("a", 3), ("b", 2))


def test_an_incident_has_its_times_with_their_offset() -> None:
    told = '{"incidents": [{"id": "I-1", "start": "2026-03-09T08:00:00+08:00", "end": "2026-03-09T01:00:00", "x": 1}]}'
    incident = read_figures(report(told)).incidents["I-1"]
    assert incident.start == datetime(2026, 3, 9, tzinfo=UTC)
    assert incident.end is None


def test_the_last_block_counts_also_when_nothing_says_that_it_is_json() -> None:
    last = '```\n{"alerts": 2, "date": "2026-03-09T00:00:00Z"}\n```'
    text = f'Before ```json\n{{"alerts": 1}}\n``` after\n{last}\nThat is all.'
    assert (read_figures(text).alerts, str(read_figures(text).day)) == (2, "2026-03-09")


def test_a_report_without_figures_says_nothing() -> None:
    assert read_figures("All was well.") == Figures()
    assert read_figures(report('{"alerts": "many", "errors": 4, "incidents": ["I-1"], "date": 7}')) == Figures()
