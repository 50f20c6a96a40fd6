"""What must be true of every tool call: on record before it acts, never again after its result, told if unknown."""

from collections.abc import Iterator

import msgspec

from talaria.journal.entries import (
    AnyEntry,
    ApprovalRequested,
    ApprovalResolved,
    ModelFinished,
    ToolFinished,
    ToolStarted,
)
from talaria.tools.stages.once import TELL
from tests.crash.effects import Effect
from tests.crash.evidence import Death, Stored
from tests.crash.scenario import ASKS, IDEMPOTENT, NO_EFFECT, SAFE
from tests.crash.trial import Outcome

UNKNOWN = "outcome_unknown"
DECLINED = "It is not known whether this call took effect before a restart, and it was not run again."


class History:
    """One call: its entries, in order, and what it did."""

    def __init__(self, call_id: str, name: str, arguments: str, run: str) -> None:
        self.id = call_id
        self.name = name
        self.arguments = arguments
        self.key = f"{run}/{call_id}"
        self.started = 0
        self.finished: list[ToolFinished] = []
        self.unknowns: list[str] = []
        self.approved_again = 0
        self.effects: list[Effect] = []
        self._asked: dict[str, str] = {}

    def add(self, entry: AnyEntry) -> None:
        """Take in the next entry that is about this call."""
        match entry:
            case ToolStarted():
                self.started += 1
            case ToolFinished():
                self.finished.append(entry)
            case ApprovalRequested():
                self._asked[entry.request_id] = entry.reason
                if entry.reason == UNKNOWN:
                    self.unknowns.append(entry.request_id)
            case ApprovalResolved():
                self.approved_again += self._asked[entry.request_id] == UNKNOWN and entry.outcome == "approved"
                if entry.outcome == "edited":
                    self.arguments = entry.arguments
            case _:
                pass

    @property
    def can_be_repeated(self) -> bool:
        """Whether running it twice does no harm."""
        return self.name in SAFE | IDEMPOTENT


def histories(stored: Stored) -> dict[str, History]:
    """The calls on record, by key."""
    calls: dict[str, History] = {}
    for _, entry in stored.entries:
        if isinstance(entry, ModelFinished):
            for call in entry.message.calls:
                history = History(call.id, call.name, call.arguments, entry.run)
                calls[history.key] = history
        elif isinstance(entry, ToolStarted | ToolFinished | ApprovalRequested | ApprovalResolved):
            calls[f"{entry.run}/{entry.call_id}"].add(entry)
    return calls


def broken_calls(outcome: Outcome) -> Iterator[str]:
    """Everything about calls that is not as it must be."""
    calls = histories(outcome.stored)
    for effect in outcome.effects:
        if effect.key not in calls:
            if effect.tool not in SAFE:
                yield f"{effect} belongs to no call on record"
        else:
            calls[effect.key].effects.append(effect)
    cut: dict[str, set[int]] = {key: set() for key in calls}
    for number, death in enumerate(outcome.deaths):
        yield from (f"death {number}: {words}" for words in _at_death(outcome, death, cut))
    for call in calls.values():
        yield from (f"{call.name} {call.key}: {words}" for words in _call(call, len(cut[call.key])))
        yield from (f"{call.name} {call.key}: {words}" for words in _results(outcome, call))


def _at_death(outcome: Outcome, death: Death, cut: dict[str, set[int]]) -> Iterator[str]:
    """Note which start of which call this death cut short; no effect is before its start, none after its result.

    What has no side effects may run before its call is on record.
    """
    then = histories(death.stored)
    for effect in outcome.effects[: death.effects]:
        if effect.tool not in SAFE and (effect.key not in then or not then[effect.key].started):
            yield f"{effect} happened before its call was on record"
    for effect in outcome.effects[death.effects :]:
        if effect.key in then and then[effect.key].finished:
            yield f"{effect} happened although its call had a result"
    for key, call in then.items():
        if call.started > len(call.unknowns) and not call.finished:
            cut[key].add(call.started)


def _call(call: History, cut: int) -> Iterator[str]:
    if len(call.finished) != 1:
        yield f"finished {len(call.finished)} times"
        return
    done = call.finished[0]
    if any(effect.key != call.key or effect.call != call.id for effect in call.effects):
        yield f"ran under other keys: {call.effects}"
    if any(effect.arguments != msgspec.json.decode(call.arguments) for effect in call.effects):
        yield f"ran with {call.effects}, on record is {call.arguments}"
    if not call.can_be_repeated and len(call.effects) > 1 + call.approved_again:
        yield f"took effect {len(call.effects)} times"
    if done.outcome == "ok" and not call.effects and call.name not in NO_EFFECT:
        yield "has a result and no effect"
    yield from _unknown(call, done, cut)


def _unknown(call: History, done: ToolFinished, cut: int) -> Iterator[str]:
    """A call that was cut short is repeated, asked for, or said to be unknown, as its tool declares."""
    if call.can_be_repeated:
        expected = ("ok",)
    elif call.name in ASKS:
        expected = ("ok",) if len(call.unknowns) == call.approved_again else ("unknown",)
        if len(call.unknowns) != cut:
            yield f"cut short {cut} times, asked for {len(call.unknowns)} times"
        if done.outcome == "unknown" and done.text != DECLINED:
            yield f"the model was told {done.text!r}"
    else:
        expected = ("unknown",) if cut else ("ok",)
        if cut and done.text != TELL:
            yield f"the model was told {done.text!r}"
    if done.outcome not in expected:
        yield f"cut short {cut} times, and {done.outcome}: {done.text}"


def _results(outcome: Outcome, call: History) -> Iterator[str]:
    """The client got the result exactly once, as the model got it."""
    run = call.key.partition("/")[0]
    transcript = next(each for each in outcome.transcripts.values() if each.run_id == run)
    results = [result for event in transcript.of("tool_result") for result in event.data["toolResults"]]
    got = [result["result"] for result in results if result["id"] == call.id]
    if got != [done.text for done in call.finished]:
        yield f"the client got the results {got}"
