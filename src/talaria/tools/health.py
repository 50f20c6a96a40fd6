"""Which calls keep failing at their arguments: told to the model within a run, to the operator across runs."""

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import NamedTuple

import structlog

from talaria.telemetry.metrics import Metrics

WINDOW = 10
SUSPECT = 5
PAUSE_MS = 3_600_000
REMEMBERED = 1_000
_log = structlog.get_logger(__name__)


class Failure(NamedTuple):
    """A call that did not pass: the same one again cannot pass either."""

    run: str
    tool: str
    arguments: str
    message: str


class ArgumentHealth:
    """Counts how calls fared at their arguments in this process, by tool. `now` is the time in ms.

    A tool of whose last `WINDOW` calls `SUSPECT` failed is reported, once an hour: its definition may mislead models.
    """

    def __init__(self, now: Callable[[], int], metrics: Metrics) -> None:
        self._now = now
        self._metrics = metrics
        self._recent: dict[str, deque[bool]] = {}
        self._reported: dict[str, int] = {}
        self._seen: OrderedDict[int, int] = OrderedDict()

    def passed(self, tool: str, *, mended: bool = False, coerced: bool = False) -> None:
        """A call's arguments were good, or became so: their text was mended, their values were coerced."""
        self._of(tool).append(False)
        self._metrics.count("tool_arguments", tool=tool, outcome="good")
        if mended:
            self._metrics.count("tool_arguments_mended", tool=tool)
        if coerced:
            self._metrics.count("tool_arguments_coerced", tool=tool)

    def failed(self, failure: Failure) -> int:
        """A call's arguments were not; return how often this very call failed this way in its run."""
        recent = self._of(failure.tool)
        recent.append(True)
        self._metrics.count("tool_arguments", tool=failure.tool, outcome="invalid")
        if sum(recent) >= SUSPECT:
            self._report(failure.tool)
        key = hash(failure)
        self._seen[key] = times = self._seen.pop(key, 0) + 1
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return times

    def counts(self, tool: str) -> tuple[int, int]:
        """Return how many of a tool's last calls failed, and of how many."""
        recent = self._recent.get(tool, ())
        return sum(recent), len(recent)

    def _of(self, tool: str) -> deque[bool]:
        return self._recent.setdefault(tool, deque(maxlen=WINDOW))

    def _report(self, tool: str) -> None:
        now, last = self._now(), self._reported.get(tool)
        if last is not None and 0 <= now - last < PAUSE_MS:
            return
        self._reported[tool] = now
        self._metrics.count("tool_definition_suspects", tool=tool)
        failed, calls = self.counts(tool)
        _log.warning(
            "tool_definition_suspect",
            tool=tool,
            failed=failed,
            calls=calls,
            advice="its arguments keep failing; look at its names, types and descriptions",
        )
