"""Rebuilding the index: its rows are made of the entries, so they can be made again."""

from talaria.core.ids import SessionKey
from talaria.journal.fold import apply
from talaria.journal.index import index as rows_of
from talaria.journal.session import load_entry
from talaria.journal.state import SessionState
from talaria.ports.blobs import Blobs
from talaria.ports.journal import Index, Journal, Put

PAGE = 1_000


async def rebuild_index(journal: Journal, index: Index, blobs: Blobs) -> int:
    """Write the index rows of every session anew; return how many sessions there are. Nobody may append meanwhile."""
    after, count = "", 0
    while paths := await journal.sessions(after, PAGE):
        for path in paths:
            await index.replace(path, await session_rows(journal, blobs, SessionKey.parse(path)))
        after, count = paths[-1], count + len(paths)
    return count


async def session_rows(journal: Journal, blobs: Blobs, key: SessionKey) -> list[Put]:
    """Return the index rows that a session's entries make."""
    state = SessionState(key)
    rows: dict[tuple[str, str], Put] = {}
    while records := await journal.read(state.path, state.seq, PAGE):
        for record in records:
            entry = await load_entry(blobs, state.path, record)
            apply(state, entry)
            for row in rows_of(state, entry):
                if isinstance(row, Put):
                    rows[row.kind, row.key] = row
                else:
                    rows.pop((row.kind, row.key), None)
    return list(rows.values())
