"""Which tables may be read: those that are listed, or all but the database's own."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from talaria.core.errors import ConfigurationError
from talaria.ports.database import Name, Query, QueryRefused
from talaria.types.sql import Dialect

SYSTEM: dict[Dialect, re.Pattern[str]] = {
    "sqlite": re.compile(r"\w+\.(sqlite_.*|pragma_.*|dbstat)|(?!main\.)\w+\..*"),
    "postgres": re.compile(r"(pg_.*|information_schema)\..*|public\.pg_.*"),
    "mysql": re.compile(r"(mysql|sys|performance_schema|information_schema)\..*", re.IGNORECASE),
}
"""What belongs to the database itself."""
HOME: dict[Dialect, str] = {"sqlite": "main", "postgres": "public"}
"""The schema of names that have none; with MySQL it is the database that the URL names."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The tables that may be read; `listed` None: all but those of the database itself."""

    dialect: Dialect
    home: str
    listed: frozenset[Name] | None

    def __contains__(self, name: Name) -> bool:
        if self.listed is not None:
            return name in self.listed
        return SYSTEM[self.dialect].fullmatch(f"{name.schema}.{name.table}") is None

    def shown(self, name: Name) -> str:
        """The name as a statement may have it."""
        return name.table if name.schema == self.home else f"{name.schema}.{name.table}"

    def name(self, text: str) -> Name:
        """The name that somebody wrote, with its schema or without."""
        schema, _, table = text.rpartition(".")
        if self.dialect == "sqlite":
            schema, table = schema.lower(), table.lower()
        return Name(schema or self.home, table)

    def check(self, query: Query) -> None:
        """Refuse a statement that names another table, or gives a part of its own the name of an allowed one.

        Raises:
            QueryRefused: names what may not be read.
        """
        for name in sorted(query.tables, key=self.shown):
            if name not in self:
                raise QueryRefused(f"table {self.shown(name)} may not be read")
        taken = query.defined & {name.table for name in self.listed or ()}
        if taken:
            raise QueryRefused(f"WITH {min(taken)}: that is a table's name; give it another")


def make_allowed(dialect: Dialect, home: str, tables: Sequence[str]) -> Allowed:
    """Return what may be read where the configuration lists `tables`; none listed is all.

    Raises:
        ConfigurationError: one of them is no name.
    """
    every = Allowed(dialect, home, None)
    for each in tables:
        if not all(each.split(".")) or each.count(".") > 1:
            raise ConfigurationError(f"'{each}' is no table's name; write table or schema.table")
    return Allowed(dialect, home, _names(every, tables) if tables else None)


def _names(every: Allowed, tables: Iterable[str]) -> frozenset[Name]:
    return frozenset(every.name(each) for each in tables)
