"""Judges each access that SQLite is about to make for a statement: it reads what it may, and calls nothing odd."""

import sqlite3
from collections.abc import Callable, Set

from talaria.ports.database import Query
from talaria.types.effects import has_effects

TABLE_FUNCTIONS = frozenset(("json_each", "json_tree"))


def judge(
    readable: Set[str], views: Set[str], query: Query
) -> Callable[[int, str | None, str | None, str | None, str | None], int]:
    """Return an authorizer. `readable`: tables and views that may be read; `views`: all views there are.

    Views may read what they want: whoever is to read one must be allowed to. Where no column is read (count(*)), SQLite
    names parts that the statement defines, and what stands behind views, as if the statement itself had named them.
    """
    named = {name.table for name in query.tables}
    counted = readable | query.defined | TABLE_FUNCTIONS
    behind_views = bool(named & views & readable)

    def may_read(table: str, column: str, schema: str | None, view: str | None) -> bool:
        if view is not None and view.lower() in views:
            return True
        if column == "" and (table in counted or behind_views):
            return True
        return schema == "main" and (table in readable or table in TABLE_FUNCTIONS)

    def verdict(action: int, first: str | None, second: str | None, schema: str | None, view: str | None) -> int:
        match action:
            case sqlite3.SQLITE_SELECT | sqlite3.SQLITE_RECURSIVE:
                allowed = True
            case sqlite3.SQLITE_READ:
                allowed = may_read((first or "").lower(), second or "", schema, view)
            case sqlite3.SQLITE_FUNCTION:
                allowed = not has_effects(second or "")
            case _:
                allowed = False
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    return verdict
