"""Both stores, and plain logs: the pretty ones read files while the loop waits."""

from pathlib import Path

import pytest
import structlog


@pytest.fixture(autouse=True)
def plain_logs() -> None:
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
        ]
    )


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store, of each kind."""
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'talaria.db'}"


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    """The URL of a store that can be opened again."""
    return f"sqlite:///{tmp_path / 'again.db'}"
