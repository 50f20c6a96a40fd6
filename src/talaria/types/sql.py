"""SQL that only reads, as a type of parameters."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

if TYPE_CHECKING:
    from collections.abc import Callable

Dialect = Literal["sqlite", "postgres", "mysql"]
MAX_SQL = 20_000


@dataclass(frozen=True, slots=True)
class _ReadOnly:
    """One statement that reads, in every one of these dialects."""

    dialects: tuple[Dialect, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from talaria.types.read_only import check_read_only  # noqa: PLC0415 - its parser takes 0.3 s to import

        return core_schema.no_info_after_validator_function(_check(check_read_only, self.dialects), handler(source))


def _check(check: "Callable[[str, Dialect], None]", dialects: tuple[Dialect, ...]) -> "Callable[[str], str]":
    def read(text: str) -> str:
        for dialect in dialects:
            check(text, dialect)
        return text

    return read


ReadOnlySqlite = Annotated[
    str, _ReadOnly(("sqlite",)), Field(description="One SQLite statement that only reads.", max_length=MAX_SQL)
]
"""One statement of SQLite that reads."""

ReadOnlyPostgres = Annotated[
    str, _ReadOnly(("postgres",)), Field(description="One PostgreSQL statement that only reads.", max_length=MAX_SQL)
]
"""One statement of PostgreSQL that reads."""

ReadOnlyMySql = Annotated[
    str, _ReadOnly(("mysql",)), Field(description="One MySQL statement that only reads.", max_length=MAX_SQL)
]
"""One statement of MySQL or MariaDB that reads."""

ReadOnlySql = Annotated[
    str, _ReadOnly(get_args(Dialect)), Field(description="One SQL statement that only reads.", max_length=MAX_SQL)
]
"""One statement that reads, whichever of the three databases gets it: SQL that all of them understand."""
