"""Logs of these tests: plain, because the pretty ones read files while the loop waits."""

import pytest
import structlog


@pytest.fixture(autouse=True)
def plain_logs() -> None:
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
        ]
    )
