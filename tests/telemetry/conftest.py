"""Plain logs: the pretty ones read files while the loop waits."""

import pytest
import structlog


@pytest.fixture(autouse=True)
def plain_logs() -> None:
    structlog.configure(processors=[structlog.dev.ConsoleRenderer(colors=False)])
