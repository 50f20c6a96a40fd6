"""Listings: pages of rows, which sessions somebody looks for, and how the wire shows them."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import msgspec

from talaria.core.errors import InvalidRequest
from talaria.core.ids import SessionKey
from talaria.journal.index import SESSION, SessionRow
from talaria.journal.views import iso_time
from talaria.ports.journal import Put

LOOK = 20_000
"""How many rows one page looks through at most."""

session_row = msgspec.json.Decoder(SessionRow).decode


def whole(key: SessionKey) -> SessionKey:
    """The session in which a turn without memory is."""
    return SessionKey(key.tenant, key.user, key.assistant, key.session)


def one_each(rows: Sequence[Put]) -> list[Put]:
    """One row for each session, of the rows of sessions and turns: of those without an assistant, if there are any."""
    found: dict[str, list[Put]] = {}
    for row in rows:
        found.setdefault(whole(SessionKey.parse(row.key)).path, []).append(row)
    bare = {path: each for path, each in found.items() if SessionKey.parse(path).assistant == "-"}
    return [_session_of(path, each) for path, each in (bare or found).items()]


def _session_of(path: str, rows: list[Put]) -> Put:
    """A session's own row where there is one, else what the rows of its turns make together."""
    if rows[0].kind == SESSION:
        return rows[0]
    turns = sorted((session_row(row.data) for row in rows), key=lambda turn: turn.created)
    data = SessionRow(turns[0].title, turns[0].created, len(turns))
    return Put(SESSION, path, path, rows[0].scope, max(row.at for row in rows), msgspec.json.encode(data))


def session_view(row: Put) -> dict[str, Any]:
    """A session as the wire lists it."""
    key, data = SessionKey.parse(row.key), session_row(row.data)
    view: dict[str, Any] = {"sessionId": key.session, "userId": key.user, "title": data.title, "turns": data.turns}
    if key.assistant != "-":
        view["assistantId"] = key.assistant
    return view | {"createdAt": iso_time(data.created), "updatedAt": iso_time(row.at)}


def is_match(row: Put, words: Sequence[str]) -> bool:
    """Whether every word is in the session's id, its assistant's or the beginning of its first message.

    `words` are case-folded.
    """
    if not words:
        return True
    key, data = SessionKey.parse(row.key), session_row(row.data)
    text = "\n".join((key.session, key.assistant, data.words or data.title)).casefold()
    return all(word in text for word in words)


async def page_of(
    rows: AsyncIterator[Put], is_wanted: Callable[[Put], bool], limit: int
) -> tuple[list[Put], dict[str, str]]:
    """Return the first `limit` rows that are wanted, and {next: cursor} where there may be more.

    So many rows are looked through at once, and not more: a page may be short, or empty, and have a next one.
    """
    found, seen = list[Put](), 0
    async for row in rows:
        seen += 1
        if is_wanted(row):
            if len(found) == limit:
                return found, {"next": write_cursor(found[-1])}
            found.append(row)
        if seen == LOOK:
            return found, {"next": write_cursor(row)}
    return found, {}


def write_cursor(row: Put) -> str:
    """The cursor of the page that begins after this row."""
    return f"{row.at}~{row.key}"


def read_cursor(cursor: str) -> tuple[int, str]:
    """Where a page begins.

    Raises:
        InvalidRequest: it is not one that a page returned.
    """
    at, tilde, key = cursor.partition("~")
    if not tilde or not (at.isascii() and at.isdigit()) or len(at) > 15:
        raise InvalidRequest("cursor is not one that this endpoint returned")
    return int(at), key
