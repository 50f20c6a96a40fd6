"""What libraries log (uvicorn, asyncio, aiohttp), from warnings on, in the server's own log."""

import logging

import structlog

_log = structlog.get_logger("talaria.library")


class _Forward(logging.Handler):
    """Passes records on as log lines of ours."""

    def emit(self, record: logging.LogRecord) -> None:
        _log.log(record.levelno, record.getMessage().strip(), logger=record.name, exc_info=record.exc_info)


def forward_library_logs() -> None:
    """From now on, everything that is logged through the standard library goes to our log."""
    root = logging.getLogger()
    root.handlers[:] = [_Forward(logging.WARNING)]
