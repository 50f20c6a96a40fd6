"""What must be true after a trial, whatever was killed: each function names what is not."""

import signal
from collections.abc import Callable, Iterator

from talaria.journal.entries import ApprovalResolved, RunFinished, TurnStarted
from tests.crash.calls import broken_calls
from tests.crash.scenario import said
from tests.crash.transcript import Transcript
from tests.crash.trial import Outcome
from tests.server.sse import Event

Check = Callable[[Outcome], Iterator[str]]


def broken(outcome: Outcome) -> list[str]:
    """Everything that a trial broke; nothing, as it should be."""
    return [f"{check.__name__}: {words}" for check in CHECKS for words in check(outcome)]


def store_is_whole(outcome: Outcome) -> Iterator[str]:
    """Every server leaves a sound file, with seqs without a gap, and what one left the next one keeps."""
    last = [seq for seq, _ in outcome.stored.entries]
    if last != list(range(1, len(last) + 1)):
        yield f"the seqs are {last}"
    for number, stored in enumerate([*(death.stored for death in outcome.deaths), outcome.stored]):
        if stored.integrity != "ok":
            yield f"death {number}: {stored.integrity}"
        if stored.entries != outcome.stored.entries[: len(stored.entries)]:
            yield f"what was durable at death {number} is no longer there"


def nothing_is_left_over(outcome: Outcome) -> Iterator[str]:
    """At the end no letter waits, no question is open, and no session is to be woken."""
    yield from (f"letter {key} waits" for _, key in outcome.stored.letters)
    yield from (f"row {kind} {key}" for kind, key in outcome.stored.index if kind in ("wake", "approval"))


def acknowledged_is_kept(outcome: Outcome) -> Iterator[str]:
    """A run whose id was told is on record, once; a decision that was acknowledged is the one in force."""
    entries = [entry for _, entry in outcome.stored.entries]
    runs = [entry.run for entry in entries if isinstance(entry, TurnStarted)]
    told = [transcript.run_id for transcript in outcome.transcripts.values()]
    if runs != told:
        yield f"runs {runs} are on record, the client was told {told}"
    resolved = {entry.request_id: entry.outcome for entry in entries if isinstance(entry, ApprovalResolved)}
    if resolved != outcome.decided:
        yield f"decisions {resolved} are on record, the client was told {outcome.decided}"


def runs_end_once(outcome: Outcome) -> Iterator[str]:
    """Every run ends with stop, on record and in the stream, once."""
    ends = [entry for _, entry in outcome.stored.entries if isinstance(entry, RunFinished)]
    if [end.reason for end in ends] != ["stop"] * len(outcome.transcripts):
        yield f"the runs ended with {ends}"
    for name, transcript in outcome.transcripts.items():
        if transcript.end is None or (transcript.end["type"], transcript.end["reason"]) != ("finish", "stop"):
            yield f"{name} ended with {transcript.end}"


def clients_get_everything_once(outcome: Outcome) -> Iterator[str]:
    """The stream broke no rule, and its texts are those of a run that nothing interrupted; a replay says the same."""
    for kind, transcripts in (("live", outcome.transcripts), ("replay", outcome.replays)):
        for name, transcript in transcripts.items():
            yield from (f"{kind} {name}: {words}" for words in transcript.violations)
            heard = (transcript.text("reasoning"), transcript.text("token"))
            if heard != said(name):
                yield f"{kind} {name} said {heard} and not {said(name)}"
    for name, transcript in outcome.replays.items():
        live = outcome.transcripts[name]
        if [event.data for event in milestones(live)] != [event.data for event in milestones(transcript)]:
            yield f"{name}: {milestones(live)} live, {milestones(transcript)} in the replay"


def model_sees_valid_history(outcome: Outcome) -> Iterator[str]:
    """Every request was one that a strict provider takes, and began with the one before it.

    Only what a killed server had asked last may be asked again in other words: it asks while results become durable.
    """
    yield from outcome.violations
    killed = sum(death.status == -signal.SIGKILL for death in outcome.deaths)
    if outcome.lost_rounds > killed:
        yield f"{outcome.lost_rounds} rounds were lost by {killed} kills"


def milestones(transcript: Transcript) -> list[Event]:
    """All events but the text."""
    return [event for event in transcript.events if event.type not in ("token", "reasoning", "rewind", "queued")]


CHECKS: tuple[Check, ...] = (
    store_is_whole,
    nothing_is_left_over,
    acknowledged_is_kept,
    runs_end_once,
    clients_get_everything_once,
    model_sees_valid_history,
    broken_calls,
)
