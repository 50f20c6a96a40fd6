"""Both stores."""

from pathlib import Path

import pytest


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store, of each kind."""
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'talaria.db'}"


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    """The URL of a store that can be opened again."""
    return f"sqlite:///{tmp_path / 'again.db'}"
