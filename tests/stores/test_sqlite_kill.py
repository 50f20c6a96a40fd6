"""What is left of a SQLite store whose process was killed in the middle of its work."""

import sqlite3
from contextlib import closing
from pathlib import Path

from talaria.stores.sqlite.store import SqliteStore
from tests.stores.child import SESSIONS
from tests.stores.processes import child


def integrity(database: Path) -> str:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute("PRAGMA integrity_check").fetchone()[0]


async def run_and_kill(database: Path, lines: int) -> dict[str, int]:
    """The highest acknowledged seq of each session."""
    async with child("append_until_killed", database) as process:
        said = [await process.line() for _ in range(lines)]
        said += await process.kill()
    acknowledged: dict[str, int] = {}
    for line in said:
        session, seq = line.split()
        acknowledged[session] = int(seq)
    return acknowledged


async def check(store: SqliteStore, session: str, acknowledged: int) -> None:
    records = await store.journal.read(session)
    last = len(records)
    assert last >= acknowledged
    assert [record.seq for record in records] == list(range(1, last + 1))
    assert last % 3 == 0, "half an append"
    row = await store.index.get("seq", session)
    assert (row.at if row is not None else 0) == last
    pending = await store.inbox.pending(session)
    assert [letter.at for letter in pending] in ([], [last])
    if last:
        assert await store.blobs.get(session, f"blob{last}") == b"x" * 100


async def test_everything_acknowledged_is_there_after_kill_9_and_nothing_by_halves(tmp_path: Path) -> None:
    database = tmp_path / "talaria.db"
    for lines in (2_500, 1, 700, 1_300):
        acknowledged = await run_and_kill(database, lines)
        store = await SqliteStore.open(str(database))
        for number in range(SESSIONS):
            session = f"s{number}"
            await check(store, session, acknowledged.get(session, 0))
        await store.close()
        assert integrity(database) == "ok"
