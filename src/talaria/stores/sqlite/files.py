"""Opens the database file: lock, connections, schema, and the number of this opening."""

import os
import sqlite3
from contextlib import ExitStack
from pathlib import Path

from talaria.core.errors import ConfigurationError
from talaria.stores.sqlite.lock import FileLock
from talaria.stores.sqlite.schema import migrate, require_current

PRAGMAS = (
    "PRAGMA busy_timeout = 5000",
    "PRAGMA synchronous = FULL",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -16000",  # KiB
    "PRAGMA wal_autocheckpoint = 500",  # pages: writing over a short log costs less than making it longer
    "PRAGMA journal_size_limit = 67108864",
)


class Files:
    """What an open store holds: the lock (owner only), one connection to write and one to read."""

    def __init__(self, path: str, *, owner: bool) -> None:
        self.path = os.path.realpath(path)
        self.lock: FileLock | None = None
        self.generation = 0
        self.newest_letter = 0
        self._connections: list[sqlite3.Connection] = []
        with ExitStack() as unless_all_opens:
            unless_all_opens.callback(self.discard)
            try:
                self._open(owner)
            except (sqlite3.Error, OSError) as error:
                raise ConfigurationError(f"store.url: {self.path} cannot be opened with SQLite: {error}") from error
            unless_all_opens.pop_all()

    @property
    def writer(self) -> sqlite3.Connection:
        """The connection that writes."""
        return self._connections[0]

    @property
    def reader(self) -> sqlite3.Connection:
        """The connection that reads."""
        return self._connections[1]

    def _open(self, owner: bool) -> None:
        if owner:
            Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            self.lock = FileLock(self.path)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        elif not Path(self.path).is_file():
            raise ConfigurationError(f"store.url: there is no {self.path}: start the server that runs on it first")
        writer = self._connect()
        if owner:
            _use_wal(writer, self.path)
            migrate(writer, self.path)
            self.generation = next_generation(writer)
        else:
            require_current(writer, self.path)
        row = writer.execute("SELECT seq FROM sqlite_sequence WHERE name = 'letter'").fetchone()
        self.newest_letter = int(row[0]) if row is not None else 0
        self._connect().execute("PRAGMA query_only = ON")

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, isolation_level=None, check_same_thread=False, cached_statements=500, timeout=5.0
        )
        self._connections.append(connection)
        for pragma in PRAGMAS:
            connection.execute(pragma)
        return connection

    def discard(self) -> None:
        """Close everything that was opened."""
        for connection in self._connections:
            connection.close()
        self.release()

    def release(self) -> None:
        """Let another process run on the file."""
        if self.lock is not None:
            self.lock.release()


def next_generation(connection: sqlite3.Connection) -> int:
    """Count one more opening and return its number."""
    sql = "UPDATE meta SET value = value + 1 WHERE key = 'generation' RETURNING value"
    return int(connection.execute(sql).fetchall()[0][0])


def _use_wal(connection: sqlite3.Connection, path: str) -> None:
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise ConfigurationError(f"store.url: the file system of {path} has no write-ahead log: use a local disk")
