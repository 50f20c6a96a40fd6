"""Metrics as Prometheus reads them."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from talaria.telemetry.metrics import Metrics


def read(metrics: Metrics) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    families = text_string_to_metric_families(metrics.render().decode())
    return {(each.name, tuple(sorted(each.labels.items()))): each.value for one in families for each in one.samples}


def test_counts_and_durations_are_rendered_by_name_and_label() -> None:
    metrics = Metrics()
    metrics.count("calls", tool="a", outcome="ok")
    metrics.count("calls", 2, outcome="ok", tool="a")
    metrics.count("calls", tool="b", outcome="ok")
    metrics.count("starts")
    metrics.observe("call_seconds", 0.3, tool="a")
    found = read(metrics)
    assert found["talaria_calls_total", (("outcome", "ok"), ("tool", "a"))] == 3
    assert found["talaria_calls_total", (("outcome", "ok"), ("tool", "b"))] == 1
    assert found["talaria_starts_total", ()] == 1
    assert found["talaria_call_seconds_sum", (("tool", "a"),)] == 0.3
    assert found["talaria_call_seconds_bucket", (("le", "0.25"), ("tool", "a"))] == 0
    assert found["talaria_call_seconds_bucket", (("le", "0.5"), ("tool", "a"))] == 1


def test_a_name_keeps_its_kind_and_its_labels() -> None:
    metrics = Metrics()
    metrics.count("calls", tool="a")
    with pytest.raises(ValueError, match="label"):
        metrics.count("calls", model="m")
    with pytest.raises(ValueError, match="label"):
        metrics.count("calls")
    with pytest.raises(ValueError, match="no histogram"):
        metrics.observe("calls", 1, tool="a")
