"""The two tools of the demo's agent: typed questions to the alert service and the log service.

Where the services are comes from the environment of the server, who may ask them from the request's toolContext.
"""

import os
from datetime import datetime
from typing import Literal, TypeVar

import msgspec
from aiohttp import ClientSession, ClientTimeout

from talaria import ToolContext, tool
from talaria.demo.records import AlertPage, Level, LogPage, Severity

ALERTS_URL = "OPS_ALERTS_URL"
LOGS_URL = "OPS_LOGS_URL"
TOKEN = "opsToken"  # noqa: S105 - the name of a secret, not a secret
_SECONDS = ClientTimeout(total=10)
P = TypeVar("P", AlertPage, LogPage)


class ServiceError(Exception):
    """A service did not give what it was asked for; the model reads the message."""


@tool(group="ops", side_effects=False, timeout=15)
async def query_alerts(
    start: datetime,
    end: datetime,
    ctx: ToolContext,
    severity: Severity | None = None,
    service: str | None = None,
    page: int = 1,
) -> AlertPage:
    """List the alerts that fired from `start` up to, but not including, `end`, oldest first, in pages.

    Args:
        start: The first moment, with an offset, such as 2026-11-29T00:00:00+08:00.
        end: The first moment that no longer counts, with an offset.
        ctx: Who asks.
        severity: Only alerts of this severity.
        service: Only alerts of this service.
        page: Which page, from 1; every answer says how many there are.
    """
    wanted = {"severity": severity, "service": service, "page": page}
    return await _get(f"{_address(ALERTS_URL)}/alerts", _parameters(start, end, wanted), ctx, AlertPage)


@tool(group="ops", side_effects=False, timeout=15)
async def query_logs(
    service: str, start: datetime, end: datetime, ctx: ToolContext, level: Level | None = None, page: int = 1
) -> LogPage:
    """List the log lines of a service from `start` up to, but not including, `end`, oldest first, in pages.

    Args:
        service: The service whose log to read.
        start: The first moment, with an offset, such as 2026-11-29T00:00:00+08:00.
        end: The first moment that no longer counts, with an offset.
        ctx: Who asks.
        level: Only lines of this level.
        page: Which page, from 1; every answer says how many there are.
    """
    wanted = {"service": service, "level": level, "page": page}
    return await _get(f"{_address(LOGS_URL)}/logs", _parameters(start, end, wanted), ctx, LogPage)


def _address(variable: Literal["OPS_ALERTS_URL", "OPS_LOGS_URL"]) -> str:
    address = os.environ.get(variable, "")
    if not address:
        raise ServiceError(f"the environment variable {variable} of the server does not say where the service is")
    return address


def _parameters(start: datetime, end: datetime, wanted: dict[str, str | int | None]) -> dict[str, str]:
    given = {name: str(value) for name, value in wanted.items() if value is not None}
    return {"from": start.isoformat(), "to": end.isoformat(), **given}


async def _get(url: str, parameters: dict[str, str], ctx: ToolContext, kind: type[P]) -> P:
    headers = {"Authorization": f"Bearer {ctx.secrets.get(TOKEN, '')}"}
    async with ClientSession(timeout=_SECONDS) as http, http.get(url, params=parameters, headers=headers) as reply:
        body = await reply.read()
        if reply.status != 200:
            raise ServiceError(f"the service answered {reply.status}: {body.decode(errors='replace')[:300]}")
        return msgspec.json.decode(body, type=kind)
