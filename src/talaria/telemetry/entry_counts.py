"""What is counted of the entries of all sessions: runs, model calls, tokens, money, tool calls, approvals.

Entries are counted once they are durable. No label can take any number of values: a model is counted under its route,
a tool that is not registered under `other`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from talaria.core.histogram import Histogram
from talaria.core.usage import Usage
from talaria.journal.entries import (
    AnyEntry,
    ApprovalRequested,
    ApprovalResolved,
    ModelFinished,
    RunFinished,
    StepFinished,
    ToolFinished,
    TurnStarted,
)
from talaria.telemetry.metrics import BUCKETS

OTHER = "other"


class ModelLabels(NamedTuple):
    """What a model is counted under: its route's prefix, and the currency of its price ("" where none is known)."""

    route: str
    currency: str = ""


class _Counter:
    """A counter by labels."""

    def __init__(self, name: str, text: str, labels: Sequence[str]) -> None:
        self._described = (f"talaria_{name}", text, labels)
        self.values: defaultdict[tuple[str, ...], float] = defaultdict(float)

    def family(self) -> Metric:
        name, text, labels = self._described
        family = CounterMetricFamily(name, text, labels=labels)
        for values, count in self.values.items():
            family.add_metric(values, count)
        return family


class _Durations:
    """A histogram of seconds by labels."""

    def __init__(self, name: str, text: str, labels: Sequence[str]) -> None:
        self._described = (f"talaria_{name}", text, labels)
        self.values: defaultdict[tuple[str, ...], Histogram] = defaultdict(lambda: Histogram(BUCKETS))

    def family(self) -> Metric:
        name, text, labels = self._described
        family = HistogramMetricFamily(name, text, labels=labels)
        for values, histogram in self.values.items():
            add_histogram(family, values, histogram)
        return family


def add_histogram(family: HistogramMetricFamily, labels: Sequence[str], histogram: Histogram) -> None:
    """Add a histogram to a family; Prometheus' counts are cumulative."""
    buckets: list[tuple[str, float]] = []
    seen = 0
    for bound, count in zip((*map(str, histogram.bounds), "+Inf"), list(histogram.counts), strict=True):
        seen += count
        buckets.append((bound, seen))
    family.add_metric(labels, buckets, histogram.total)


class EntryCounts(Collector):
    """Counts entries, at about a microsecond each; belongs to the event loop.

    Args:
        model_labels: what a model is counted under. It is asked for every model call, so it must remember.
        is_tool: whether a tool is registered under a name.
    """

    def __init__(self, model_labels: Callable[[str], ModelLabels], is_tool: Callable[[str], bool]) -> None:
        self._model_labels = model_labels
        self._is_tool = is_tool
        self._families: list[_Counter | _Durations] = []
        self._appends = self._counter("journal_appends", "Appends to journals that have become durable")
        self._entries = self._counter("journal_entries", "Entries of journals that have become durable")
        self._started = self._counter("runs_started", "Runs that began")
        self._runs = self._counter("runs", "Runs that ended, by reason and error code", "outcome", "error")
        self._rounds = self._counter("rounds", "Answers that runs got for their conversations, whole or not")
        self._calls = self._counter("model_calls", "Model calls by route and by how they ended", "route", "outcome")
        self._call_seconds = self._durations("model_call_seconds", "Time of model calls, retries included", "route")
        self._tokens = self._counter("tokens", "Tokens: cached is part of input, reasoning of output", "route", "kind")
        self._cost = self._counter("cost", "Money, where prices are known", "route", "currency")
        self._tools = self._counter("tool_calls", "Tool calls by tool and outcome", "tool", "outcome")
        self._tool_seconds = self._durations("tool_call_seconds", "Time of tool calls that ran", "tool")
        self._asked = self._counter("approvals_requested", "Questions to people, by why they were asked", "reason")
        self._decided = self._counter("approvals", "Questions to people that are no longer open", "outcome")
        self._counted: dict[type, Callable[[Any], None]] = {
            TurnStarted: self._turn_started,
            ModelFinished: self._model_finished,
            StepFinished: self._step_finished,
            ToolFinished: self._tool_finished,
            ApprovalRequested: self._approval_requested,
            ApprovalResolved: self._approval_resolved,
            RunFinished: self._run_finished,
        }

    def _counter(self, name: str, text: str, *labels: str) -> _Counter:
        self._families.append(made := _Counter(name, text, labels))
        return made

    def _durations(self, name: str, text: str, *labels: str) -> _Durations:
        self._families.append(made := _Durations(name, text, labels))
        return made

    def watch(self, placed: Sequence[tuple[int, AnyEntry]]) -> None:
        """Count what an append has made durable."""
        self._appends.values[()] += 1
        self._entries.values[()] += len(placed)
        for _, entry in placed:
            count = self._counted.get(type(entry))
            if count is not None:
                count(entry)

    def collect(self) -> Iterator[Metric]:
        """Yield what was counted."""
        for each in self._families:
            yield each.family()

    describe = collect  # so that nobody else counts under these names

    def _turn_started(self, _: TurnStarted) -> None:
        self._started.values[()] += 1

    def _model_finished(self, entry: ModelFinished) -> None:
        self._rounds.values[()] += 1
        if not entry.attempt:  # an agent of one's own: its model calls are steps
            return
        model = self._model_labels(entry.message.model)
        outcome = "error" if entry.error else "incomplete" if entry.message.incomplete else entry.finish
        self._calls.values[model.route, outcome] += 1
        self._call_seconds.values[model.route,].add(entry.duration_ms / 1000)
        self._spend(model, entry.usage)

    def _step_finished(self, entry: StepFinished) -> None:
        model = self._model_labels(entry.message.model)
        self._calls.values[model.route, "step"] += 1
        self._spend(model, entry.usage)

    def _spend(self, model: ModelLabels, usage: Usage) -> None:
        tokens = self._tokens.values
        tokens[model.route, "input"] += usage.input_tokens
        tokens[model.route, "output"] += usage.output_tokens
        if usage.cached_tokens:
            tokens[model.route, "cached"] += usage.cached_tokens
        if usage.reasoning_tokens:
            tokens[model.route, "reasoning"] += usage.reasoning_tokens
        if usage.cost:
            self._cost.values[model.route, model.currency] += usage.cost

    def _tool_finished(self, entry: ToolFinished) -> None:
        tool = entry.name if self._is_tool(entry.name) else OTHER
        self._tools.values[tool, entry.outcome] += 1
        if entry.outcome not in ("invalid", "refused"):
            self._tool_seconds.values[tool,].add(entry.duration_ms / 1000)

    def _approval_requested(self, entry: ApprovalRequested) -> None:
        self._asked.values[entry.reason,] += 1

    def _approval_resolved(self, entry: ApprovalResolved) -> None:
        self._decided.values[entry.outcome,] += 1

    def _run_finished(self, entry: RunFinished) -> None:
        self._runs.values[entry.reason, entry.error] += 1
