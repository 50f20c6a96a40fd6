"""Logs through structlog: every line of a run carries tenant, session, run and agent."""

import logging
import sys
from typing import Literal, TextIO

import structlog


def set_up_logs(kind: Literal["console", "json"], level: int = logging.INFO, out: TextIO | None = None) -> None:
    """Write log lines to `out` (standard error), for people (`console`) or machines (`json`)."""
    stream = out or sys.stderr
    renderer = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if kind == "json"
        else structlog.dev.ConsoleRenderer(
            colors=stream.isatty(),
            exception_formatter=structlog.dev.plain_traceback,  # the default one shows local variables: secrets too
        )
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.StackInfoRenderer(),
            *([structlog.processors.format_exc_info] if kind == "json" else []),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(stream),
        cache_logger_on_first_use=level <= logging.INFO,  # a server's logs are set up once, a program's may change
    )


def log_warnings(kind: Literal["console", "json"]) -> None:
    """In a program that has not set up structlog itself: warnings and errors only, on standard error."""
    if not structlog.is_configured():
        set_up_logs(kind, logging.WARNING)
