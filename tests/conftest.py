"""What every test runs under: a guard against blocking the event loop, and hypothesis profiles."""

import os
from collections.abc import Iterator

import pytest
import structlog
from blockbuster import blockbuster_ctx
from hypothesis import settings

from tests.services import require

settings.register_profile("local", deadline=None, max_examples=50)
settings.register_profile("ci", deadline=None, max_examples=200, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(autouse=True)
def event_loop_guard(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which code of talaria blocks the event loop; threads without a loop may block."""
    if request.node.get_closest_marker("blocking"):
        yield
        return
    with blockbuster_ctx(scanned_modules=["talaria"]) as guard:
        guard.functions["time.sleep"].can_block_in("stores/sqlite/worker.py", "_watch")  # it rests on purpose
        yield


@pytest.fixture(autouse=True)
def plain_logs() -> None:
    """Every line, whatever an earlier test has set; plain, because the pretty ones read files while the loop waits."""
    structlog.reset_defaults()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
        ]
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """See to it that the services a test is marked with are there."""
    for marker in item.iter_markers("service"):
        for name in marker.args:
            require(name)
