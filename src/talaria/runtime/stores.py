"""Opens the store that a URL names."""

from talaria.core.errors import ConfigurationError
from talaria.ports.store import Store

KNOWN = "memory://, sqlite:///relative.db, sqlite:////absolute.db"


async def open_store(url: str, *, owner: bool = True) -> Store:
    """Open the store at `url` (setting `store.url`).

    `owner=False` opens a SQLite file that another process runs on: to read it and to put letters.

    Raises:
        ConfigurationError: no such kind of store, or it cannot be opened; the message says why.
    """
    scheme, _, rest = url.partition("://")
    match scheme:
        case "memory" if not rest:
            return await _open_memory()
        case "sqlite":
            return await _open_sqlite(url, rest, owner)
        case _:
            raise ConfigurationError(f"store.url: no store for {url!r}; there are {KNOWN}")


async def _open_memory() -> Store:
    from talaria.stores.memory.store import MemoryStore  # noqa: PLC0415 - only the store in use is loaded

    return MemoryStore()


async def _open_sqlite(url: str, rest: str, owner: bool) -> Store:
    from talaria.stores.sqlite.store import SqliteStore  # noqa: PLC0415 - only the store in use is loaded

    path = rest.removeprefix("/")
    if not rest.startswith("/") or not path or path == ":memory:":
        raise ConfigurationError(f"store.url: {url!r} names no file; there are {KNOWN}")
    return await SqliteStore.open(path, owner=owner)
