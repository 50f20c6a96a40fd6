"""The databases that models may read, out of the settings. Nothing is opened before a tool asks."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from talaria.core.errors import ConfigurationError
from talaria.runtime.database_settings import DatabaseSettings

if TYPE_CHECKING:  # their parser takes 0.3 s to import: only deployments with databases wait for it
    from talaria.databases.allowed import Allowed
    from talaria.ports.database import Database
    from talaria.tools.builtin.databases import Source
    from talaria.types.sql import Dialect

DIALECTS: "dict[str, Dialect]" = {
    "sqlite": "sqlite",
    "postgresql": "postgres",
    "postgres": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
}
DRIVERS = {"postgres": "asyncpg", "mysql": "pymysql"}


def make_sources(databases: Mapping[str, DatabaseSettings]) -> "dict[str, Source]":
    """Return the databases by name.

    Raises:
        ConfigurationError: a URL or a table's name is wrong, or a driver is not installed.
    """
    return {name: _source(f"databases.{name}", settings) for name, settings in databases.items()}


def _source(where: str, settings: DatabaseSettings) -> "Source":
    from talaria.databases.allowed import HOME, make_allowed  # noqa: PLC0415 - see above
    from talaria.tools.builtin.databases import Source  # noqa: PLC0415 - see above

    parts = urlsplit(settings.url)
    dialect = DIALECTS.get(parts.scheme)
    if dialect is None:
        raise ConfigurationError(f"{where}.url: it must begin with sqlite:///, postgresql:// or mysql://")
    home = HOME.get(dialect) or unquote(parts.path.lstrip("/"))
    if not home:
        raise ConfigurationError(f"{where}.url: it must name a database, as in mysql://user@host/name")
    if dialect in DRIVERS and find_spec(DRIVERS[dialect]) is None:
        raise ConfigurationError(f"{where}.url: its driver is missing; install talaria-agent[{dialect}]")
    try:
        allowed = make_allowed(dialect, home, settings.tables)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}.tables: {error.message}") from error
    functions = frozenset(each.lower() for each in settings.functions)
    return Source(_database(settings, allowed), allowed, settings.about, functions)


def _database(settings: DatabaseSettings, allowed: "Allowed") -> "Database":
    from talaria.ports.database import Limits  # noqa: PLC0415 - see above

    limits = Limits(settings.rows, settings.counted, settings.max_bytes, settings.timeout)
    match allowed.dialect:
        case "sqlite":
            from talaria.databases.sqlite import SqliteDatabase  # noqa: PLC0415 - see above

            path = Path(settings.url.removeprefix("sqlite:///"))
            return SqliteDatabase(path, allowed, limits, settings.connections)
        case "postgres":
            from talaria.databases.postgres import PostgresDatabase  # noqa: PLC0415 - a driver, see above

            return PostgresDatabase(settings.url, allowed, limits, settings.connections)
        case "mysql":
            from talaria.databases.mysql import MySqlDatabase  # noqa: PLC0415 - a driver, see above

            return MySqlDatabase(settings.url, allowed, limits, settings.connections)
