"""What Prometheus gets: what was counted since the start, and how things stand at this moment."""

from prometheus_client.metrics_core import GaugeMetricFamily, HistogramMetricFamily, Metric

from talaria.core.histogram import Histogram
from talaria.journal.index import APPROVAL
from talaria.runtime.build import Parts
from talaria.runtime.index_rows import count_rows
from talaria.telemetry.entry_counts import add_histogram


async def scrape(parts: Parts, streams: int) -> bytes:
    """Return all metrics in Prometheus' text format; `streams` is how many event streams are open."""
    notifier = parts.notifier
    waiting = await notifier.waiting() if notifier is not None else {}
    commits, engine = parts.kit.store.commits, parts.engine
    return parts.kit.metrics.render(
        _gauge("runs_running", "Sessions with a run at work", engine.running),
        _gauge("runs_queued", "Sessions that wait for a place to run", engine.lined_up),
        _gauge("streams_open", "Event streams that clients have open", streams),
        _gauge("sandboxes_running", "Sandboxes that there are, spares included", parts.sandboxes.running),
        _breakers(parts.breakers.open_by_key()),
        _gauge("approvals_open", "Questions that wait for a person", await count_rows(parts.kit.store.index, APPROVAL)),
        _waiting(waiting),
        _histogram("journal_commit_seconds", "Time of the store's commits", commits.seconds),
        _histogram("journal_commit_operations", "Operations that one commit made durable", commits.operations),
    )


def _waiting(by_target: dict[int, int]) -> Metric:
    family = GaugeMetricFamily("talaria_notify_waiting", "Deliveries of notices that wait", labels=("target",))
    for number, count in by_target.items():
        family.add_metric((str(number),), count)
    return family


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"talaria_{name}", text, value=value)


def _breakers(open_by_key: dict[str, bool]) -> Metric:
    family = GaugeMetricFamily(
        "talaria_breaker_open", "Whether calls of a tool that kept failing are held back", labels=("tool",)
    )
    for tool, is_open in open_by_key.items():
        family.add_metric((tool,), is_open)
    return family


def _histogram(name: str, text: str, histogram: Histogram) -> Metric:
    family = HistogramMetricFamily(f"talaria_{name}", text, labels=())
    add_histogram(family, (), histogram)
    return family
