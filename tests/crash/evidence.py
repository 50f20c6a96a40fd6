"""What is on record: read from a copy of the files that a dead server left, which are themselves left as they are."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec

from talaria.journal.codec import decode_entry
from talaria.journal.entries import AnyEntry, Oversize
from tests.crash.effects import Effect, read_effects
from tests.crash.points import Kill
from tests.crash.server import DATABASE, EFFECTS


class Stored(msgspec.Struct, frozen=True):
    """What a store holds: entries by seq, letters that wait (kind and key), index rows (kind and key), its health."""

    entries: tuple[tuple[int, AnyEntry], ...] = ()
    letters: tuple[tuple[str, str], ...] = ()
    index: tuple[tuple[str, str], ...] = ()
    integrity: str = "ok"

    def of(self, kind: type[AnyEntry]) -> list[AnyEntry]:
        """The entries of a kind."""
        return [entry for _, entry in self.entries if isinstance(entry, kind)]


class Death(msgspec.Struct, frozen=True):
    """The end of a server: where it was planned, how it ended, what was stored and how many effects there were."""

    kill: Kill | None
    status: int
    stored: Stored
    effects: int


def observe(folder: Path, number: int, kill: Kill | None, status: int) -> Death:
    """Look at what a server left."""
    stored = read_store(folder, folder / f"death{number}")
    return Death(kill, status, stored, len(effects_in(folder)))


def effects_in(folder: Path) -> list[Effect]:
    """All effects of a trial."""
    return read_effects(folder / EFFECTS)


def read_store(folder: Path, target: Path) -> Stored:
    """Read a copy of the database, made in `target`, so that the next server finds what the last one left."""
    target.mkdir()
    for name in (DATABASE, f"{DATABASE}-wal"):
        if (folder / name).exists():
            shutil.copy(folder / name, target / name)
    with closing(sqlite3.connect(target / DATABASE)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if "entry" not in tables:
            return Stored()
        rows = connection.execute("SELECT seq, data FROM entry ORDER BY session, seq").fetchall()
        return Stored(
            entries=tuple((seq, _entry(data)) for seq, data in rows),
            letters=tuple(connection.execute("SELECT kind, key FROM letter WHERE consumed = 0 ORDER BY id")),
            index=tuple(connection.execute("SELECT kind, key FROM idx ORDER BY kind, key")),
            integrity=str(connection.execute("PRAGMA integrity_check").fetchone()[0]),
        )


def _entry(data: bytes) -> AnyEntry:
    entry = decode_entry(data)
    assert not isinstance(entry, Oversize), "the scenario has no entry of that size"
    return entry
