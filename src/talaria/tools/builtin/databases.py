"""The tools for data: `query_database` reads, and `database_schema` says what there is to read."""

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog

from talaria.databases.allowed import Allowed
from talaria.databases.statement import read_query
from talaria.ports.database import Answer, Column, Database, DatabaseUnavailable, Query, QueryRefused, Table
from talaria.tools.declaration import Tool
from talaria.tools.nearest import hint, listed
from talaria.tools.result import result_text
from talaria.types.read_only import NAMES
from talaria.types.sql import MAX_SQL

GROUP = "data"
_UNKNOWN_TABLE = re.compile(
    r"no such table: ([\w.]+)|relation \"([^\"]+)\" does not exist|Table '([^']+)' doesn't exist"
)
_UNKNOWN_COLUMN = re.compile(
    r"no such column: (?:\w+\.)*(\w+)|column \"?(?:\w+\.)*(\w+)\"? does not exist"
    r"|Unknown column '(?:[^'.]+\.)*([^'.]+)'"
)
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Source:
    """A database under the name that models know it by. `about`: what is in it, for models."""

    database: Database
    allowed: Allowed
    about: str = ""
    functions: frozenset[str] = field(default_factory=frozenset[str])


def data_tools(sources: Mapping[str, Source], characters: int) -> tuple[Tool[..., Any], ...]:
    """Return the tools over these databases, none where there are none; results are at most so many characters."""
    if not sources:
        return ()
    tools = _DataTools(sources, characters)
    return tools.query, tools.schema


class _DataTools:
    def __init__(self, sources: Mapping[str, Source], characters: int) -> None:
        self._sources = sources
        self._characters = characters
        there = "; ".join(_introduced(name, source) for name, source in sources.items())
        name = {"type": "string", "enum": list(sources), "description": "Which database."}
        self.query = _tool(
            "query_database",
            f"Read a database with one SQL SELECT. Its first rows come back, and how many there are; let the database "
            f"count, sum and sort. Ask database_schema for tables and columns first. Databases: {there}.",
            {
                "database": name,
                "sql": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": MAX_SQL,
                    "description": "One SELECT in the dialect of the database, without parameters.",
                },
            },
            ["database", "sql"],
            self._query,
        )
        self.schema = _tool(
            "database_schema",
            f"List the tables of a database, or the columns of one of them. Databases: {there}.",
            {"database": name, "table": {"type": "string", "minLength": 1, "description": "Left out: all tables."}},
            ["database"],
            self._schema,
        )

    async def _query(self, database: str, sql: str) -> dict[str, Any]:
        source = self._sources[database]
        allowed = source.allowed
        try:
            query = await asyncio.to_thread(read_query, sql, allowed.dialect, allowed.home, source.functions)
            allowed.check(query)
            return _shown(await source.database.answer(query), self._characters)
        except QueryRefused as error:
            raise QueryRefused(error.message + await _advice(source, error.message, sql)) from error
        except DatabaseUnavailable as error:
            raise _logged(error, database) from error

    async def _schema(self, database: str, table: str | None = None) -> dict[str, Any]:
        source = self._sources[database]
        try:
            if table is None:
                return {"tables": [_table(source, each) for each in await source.database.tables()]}
            name = source.allowed.name(table)
            columns = await source.database.columns(name) if name in source.allowed else []
            if not columns:
                known = [source.allowed.shown(each.name) for each in await source.database.tables()]
                raise QueryRefused(f"no table named '{table[:100]}'; there are {listed(known)}{hint(table, known)}")
            return {"table": table, "columns": [_column(each) for each in columns]}
        except DatabaseUnavailable as error:
            raise _logged(error, database) from error


def _tool(name: str, description: str, properties: dict[str, Any], required: list[str], fn: Any) -> Tool[..., Any]:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return Tool(
        name, description, schema, fn, group=GROUP, side_effects=False, untrusted=True, breaker=False, source="builtin"
    )


def _introduced(name: str, source: Source) -> str:
    said = f"{name} ({NAMES[source.allowed.dialect]})"
    return f"{said}: {source.about}" if source.about else said


def _shown(answer: Answer, characters: int) -> dict[str, Any]:
    """The answer with as many of its rows as fit."""
    shown: dict[str, Any] = {"columns": answer.columns, "rows": [], "rowCount": answer.count}
    notes = [f"there are more than {answer.count} rows"] if answer.more and not answer.note else []
    notes += [answer.note] if answer.note else []
    left = characters - len(result_text(shown)) - _NOTES
    for row in answer.rows:
        left -= len(result_text(row)) + 1
        if left < 0:
            break
        shown["rows"].append(row)
    if len(shown["rows"]) < answer.count:
        notes.insert(0, f"only the first {len(shown['rows'])} rows are shown")
    if notes:
        shown["note"] = "; ".join(notes)
    return shown


_NOTES = 300
"""Characters that notes may take."""


def _table(source: Source, table: Table) -> dict[str, Any]:
    shown = {"name": source.allowed.shown(table.name), "kind": table.kind, "comment": table.comment}
    return {key: value for key, value in shown.items() if value}


def _column(column: Column) -> dict[str, Any]:
    shown = {"name": column.name, "type": column.type, "nullable": column.nullable, "key": column.key}
    shown |= {"references": column.references, "comment": column.comment}
    return {key: value for key, value in shown.items() if value not in ("", False)} | {"nullable": column.nullable}


async def _advice(source: Source, said: str, sql: str) -> str:
    """What may have been meant where a name is unknown."""
    try:
        if "may not be read" in said or _UNKNOWN_TABLE.search(said):
            known = [source.allowed.shown(each.name) for each in await source.database.tables()]
            wanted = re.search(r"table (\S+) may not be read", said) or _UNKNOWN_TABLE.search(said)
            assert wanted is not None
            return f"; there are {listed(known)}{hint(_first(wanted), known)}"
        if (found := _UNKNOWN_COLUMN.search(said)) is not None:
            query = read_query(sql, source.allowed.dialect, source.allowed.home, source.functions)
            return await _near_column(source, query, _first(found))
    except DatabaseUnavailable:
        return ""
    return ""


async def _near_column(source: Source, query: Query, wanted: str) -> str:
    names: dict[str, None] = {}
    for table in sorted(query.tables, key=lambda each: each.table)[:_LOOKED_AT]:
        names |= dict.fromkeys(column.name for column in await source.database.columns(table))
    return hint(wanted, names) or f"; the columns are {listed(names)}"


_LOOKED_AT = 10
"""Tables whose columns are looked at for an unknown name."""


def _first(found: re.Match[str]) -> str:
    groups: Iterable[str | None] = found.groups()
    return next(each for each in groups if each)


def _logged(error: DatabaseUnavailable, database: str) -> DatabaseUnavailable:
    _log.error("database_unavailable", database=database, error=error.operator)
    return DatabaseUnavailable(f"database '{database}': {error.message}; go on without it, or try later")
