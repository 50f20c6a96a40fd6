"""A run as it is on record: its entries out of any store, also beside the process that runs on that store."""

import msgspec

from talaria.core.errors import NotFound
from talaria.core.ids import SessionKey
from talaria.journal.entries import AnyEntry, ContextSet, ModelFinished, TurnStarted
from talaria.journal.index import RUN, RunRow
from talaria.journal.session import load_entry
from talaria.ports.store import Store

PAGE = 1_000
_row = msgspec.json.Decoder(RunRow).decode


class RecordedRun(msgspec.Struct, frozen=True):
    """A run so far. `context` is what its model saw besides the messages.

    `answered` is the (epoch, attempt) of the last model call of the session before this run.
    """

    key: SessionKey
    turn: TurnStarted
    entries: tuple[AnyEntry, ...]
    context: ContextSet
    answered: tuple[int, int] = (0, 0)


async def read_run(store: Store, run_id: str) -> RecordedRun:
    """Return what is on record of a run; one that is not over may go on meanwhile.

    Raises:
        NotFound: the store has no such run.
    """
    found = await store.index.get(RUN, run_id)
    if found is None:
        raise NotFound(f"no run '{run_id[:80]}' in this store")
    last = _row(found.data).last
    entries: list[AnyEntry] = []
    context: ContextSet | None = None
    answered = (0, 0)
    seq, more = 0, True
    while more:
        records = await store.journal.read(found.session, seq, PAGE)
        for record in records:
            entry = await load_entry(store.blobs, found.session, record)
            if entry.run == run_id:
                entries.append(entry)
            if isinstance(entry, ContextSet) and (not entries or entry.run == run_id):
                context = entry
            if isinstance(entry, ModelFinished) and not entries:
                answered = (entry.epoch, entry.attempt)
            seq = record.seq
        more = len(records) == PAGE and not 0 < last <= seq
    turn = next((entry for entry in entries if isinstance(entry, TurnStarted)), None)
    if turn is None:
        raise NotFound(f"run '{run_id[:80]}' is no longer on record")
    return RecordedRun(SessionKey.parse(found.session), turn, tuple(entries), context or _nothing(turn), answered)


def _nothing(turn: TurnStarted) -> ContextSet:
    return ContextSet(run=turn.run, at=turn.at, system="")
