"""Databases that a model may read: what the tools for data need of one."""

from dataclasses import dataclass
from typing import Any, Protocol

from talaria.core.errors import InvalidRequest, TalariaError


class QueryRefused(InvalidRequest):
    """A statement is not run, or the database does not take it; the message is for the model."""


class DatabaseUnavailable(TalariaError):
    """The database cannot be reached, or is not fit to be read by a model; `operator` says why."""

    code = "tool_failed"


@dataclass(frozen=True, slots=True)
class Name:
    """A table's name as its database compares names; `schema` is never empty."""

    schema: str
    table: str


@dataclass(frozen=True, slots=True)
class Query:
    """One statement that was found to only read.

    `tables` are those that it names, `defined` the names that it gives to parts of its own (WITH).
    """

    sql: str
    tables: frozenset[Name]
    defined: frozenset[str]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of an answer is read: rows that are kept, rows that are counted, bytes, seconds."""

    rows: int = 50
    counted: int = 10_000
    bytes: int = 200_000
    seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """The first rows of an answer, as JSON values in order of `columns`; there are `count` rows, or `more` than that.

    `note` says what else is missing.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    count: int
    more: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view that may be read."""

    name: Name
    kind: str
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. `references`: table and column that its values point to."""

    name: str
    type: str
    nullable: bool = True
    key: bool = False
    references: str = ""
    comment: str = ""


class Database(Protocol):
    """One database. Every method may be used at once by many tasks; a cancelled one ends in the database too."""

    async def answer(self, query: Query) -> Answer:
        """Return what the statement reads, in a transaction that cannot write.

        Raises:
            QueryRefused: the database does not take it, or it took too long.
            DatabaseUnavailable: it cannot be reached.
        """
        ...

    async def tables(self) -> list[Table]:
        """Return what there is to read, by name: of the allowed tables those that exist, at most 1000.

        Raises:
            DatabaseUnavailable: it cannot be reached.
        """
        ...

    async def columns(self, table: Name) -> list[Column]:
        """Return the columns of an allowed table, in order, at most 1000; none where there is no such table.

        Raises:
            DatabaseUnavailable: it cannot be reached.
        """
        ...

    async def close(self) -> None:
        """Close its connections; a later call opens new ones."""
        ...
