"""Metrics of one runtime, for Prometheus."""

from collections.abc import Iterable
from threading import Lock
from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
"""Seconds: from a tool that looks something up to a model that thinks for long."""
Key = tuple[str | tuple[str, str], ...]
Kind = TypeVar("Kind", bound=Counter | Histogram)


class _Told(Collector):
    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    def collect(self) -> Iterable[Metric]:
        return (self._metric,)


class Metrics:
    """Counters and durations by name, all of them named `talaria_…`. Safe to use from threads.

    The first use of a name decides its kind and its labels.
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._lock = Lock()
        self._families: dict[str, Counter | Histogram] = {}
        self._counters: dict[Key, Counter] = {}
        self._histograms: dict[Key, Histogram] = {}

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add `amount` to the counter `talaria_<name>_total`.

        Raises:
            ValueError: the amount is less than 0, or the name was used with other labels or for durations.
        """
        key = (name, *labels.items())
        counter = self._counters.get(key)
        if counter is None:
            counter = self._counters[key] = self._labelled(Counter, name, labels)
        counter.inc(amount)

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Add a duration to the histogram `talaria_<name>`.

        Raises:
            ValueError: the name was used with other labels or for a counter.
        """
        key = (name, *labels.items())
        histogram = self._histograms.get(key)
        if histogram is None:
            histogram = self._histograms[key] = self._labelled(Histogram, name, labels, buckets=BUCKETS)
        histogram.observe(seconds)

    def add(self, collector: Collector) -> None:
        """Render what a collector counts by itself, too."""
        self._registry.register(collector)

    def render(self, *now: Metric) -> bytes:
        """Return all of them in Prometheus' text format, and what is told of this moment."""
        moment = CollectorRegistry()
        for each in now:
            moment.register(_Told(each))
        return generate_latest(self._registry) + generate_latest(moment)

    def _labelled(self, kind: type[Kind], name: str, labels: dict[str, str], **options: Any) -> Kind:
        with self._lock:
            family = self._families.get(name)
            if family is None:
                options |= {"namespace": "talaria", "registry": self._registry}
                family = self._families[name] = kind(name, name.replace("_", " "), tuple(labels), **options)
        if not isinstance(family, kind):
            raise ValueError(f"the metric '{name}' is no {kind.__name__.lower()}")
        return family.labels(**labels) if labels else family
