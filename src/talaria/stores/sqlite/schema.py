"""The tables, and how a file of an older version becomes one of this version."""

import sqlite3

from talaria.core.errors import ConfigurationError

# One tuple of statements a version. What was released is never changed: append the next version.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID",
        "INSERT INTO meta VALUES ('schema', 0), ('generation', 0), ('checked', 0)",
        # With rowids: entries of many sessions in one commit fill the same few pages, which is what is written.
        """CREATE TABLE entry(session TEXT NOT NULL, seq INTEGER NOT NULL, data BLOB NOT NULL,
             PRIMARY KEY(session, seq))""",
        """CREATE TABLE idx(kind TEXT NOT NULL, key TEXT NOT NULL, session TEXT NOT NULL, scope TEXT NOT NULL,
             at INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY(kind, key)) WITHOUT ROWID""",
        "CREATE INDEX idx_scope ON idx(kind, scope, at, key)",
        "CREATE INDEX idx_at ON idx(kind, at, key)",
        "CREATE INDEX idx_session ON idx(session)",
        """CREATE TABLE letter(id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, key TEXT NOT NULL UNIQUE,
             kind TEXT NOT NULL, run TEXT NOT NULL, at INTEGER NOT NULL, body BLOB NOT NULL,
             consumed INTEGER NOT NULL DEFAULT 0)""",
        "CREATE INDEX letter_session ON letter(session)",
        "CREATE INDEX letter_pending ON letter(session, id) WHERE consumed = 0",
        "CREATE INDEX letter_turn ON letter(run) WHERE kind = 'turn'",
        "CREATE TABLE blob(session TEXT NOT NULL, ref TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY(session, ref))",
    ),
)
VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, path: str) -> None:
    """Bring the file to this version, all or nothing.

    Raises:
        ConfigurationError: it is of a later version, or another program's.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = _version(connection, path)
        if found > VERSION:
            raise ConfigurationError(_newer(path, found))
        for statements in MIGRATIONS[found:]:
            for statement in statements:
                connection.execute(statement)
        if found < VERSION:
            connection.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (VERSION,))
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def require_current(connection: sqlite3.Connection, path: str) -> None:
    """Refuse a file that is not of this version: for a process that does not own it.

    Raises:
        ConfigurationError: says what to do.
    """
    found = _version(connection, path)
    if found > VERSION:
        raise ConfigurationError(_newer(path, found))
    if found < VERSION:
        raise ConfigurationError(f"{path} is of schema {found}, this version reads {VERSION}: start its server once")


def _version(connection: sqlite3.Connection, path: str) -> int:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return 0
    if not {"meta", "entry", "letter"} <= tables:
        raise ConfigurationError(f"{path} is the database of another program: name another file in store.url")
    row = connection.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    return int(row[0])


def _newer(path: str, found: int) -> str:
    return (
        f"{path} is of schema {found}, this version knows up to {VERSION}: "
        "upgrade talaria to the version that wrote it, or name another file in store.url"
    )
