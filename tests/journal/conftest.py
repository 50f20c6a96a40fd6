"""Stores of both kinds, by themselves."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from talaria.ports.store import Store
from talaria.runtime.stores import open_store


@pytest_asyncio.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """An open store of each kind, closed after the test."""
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'talaria.db'}"
    opened = await open_store(url)
    yield opened
    await opened.close()
