"""How the suite gets its stores, and short ways to write batches and letters."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest
import pytest_asyncio

from talaria.ports.inbox import Letter
from talaria.ports.journal import Batch, Put, Record
from talaria.ports.store import Store

T = TypeVar("T")

SECONDS = 10.0
"""No wait in the suite is longer."""

SESSION = "tenant/user/-/chat"


class Opening:
    """The hook. Each test gets a store of its own in a folder of its own."""

    pytestmark = pytest.mark.asyncio

    async def open_store(self, folder: Path) -> Store:
        """Open the store that is kept in this folder."""
        raise NotImplementedError

    @pytest_asyncio.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[Store]:
        """An open store, closed after the test."""
        store = await self.open_store(tmp_path)
        yield store
        await store.close()


def batch(*texts: str, at: int = 0, session: str = SESSION, epoch: int = 1) -> Batch:
    """An append of these entries after seq `at`."""
    return Batch(session, epoch, at, tuple(text.encode() for text in texts))


def row(key: str, at: int = 0, *, kind: str = "run", session: str = SESSION, scope: str = "tenant/user") -> Put:
    """An index row."""
    return Put(kind, key, session, scope, at, key.encode())


def letter(key: str, *, session: str = SESSION, kind: str = "turn", at: int = 0, body: bytes = b"{}") -> Letter:
    """A letter about the run `run-<key>`."""
    return Letter(session, key, kind, f"run-{key}", at, body)


def texts(records: Sequence[Record]) -> list[str]:
    """The entries as text."""
    return [record.data.decode() for record in records]


def keys(rows: Sequence[Put]) -> list[str]:
    """The keys of index rows."""
    return [row.key for row in rows]


@asynccontextmanager
async def ending(items: AsyncIterator[T]) -> AsyncGenerator[AsyncIterator[T]]:
    """Closes a tail or a watch after the block."""
    try:
        yield items
    finally:
        if isinstance(items, AsyncGenerator):
            await items.aclose()
