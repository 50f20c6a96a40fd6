"""Plays the demo: starts the services, the model and the server, asks, and gathers what the checks need."""

import asyncio
import secrets
from collections.abc import Callable
from datetime import date, datetime
from typing import Final

import msgspec
from aiohttp import ClientSession

from talaria.demo.checks import Evidence
from talaria.demo.client import Client, Watcher, replay
from talaria.demo.options import Options
from talaria.demo.processes import Children, children
from talaria.demo.query import Query
from talaria.demo.tools import ALERTS_URL, LOGS_URL, TOKEN
from talaria.demo.workspace import CONFIGURATION, Workspace

CUT_AFTER: Final = 500
"""Characters of the answer after which the client hangs up: in the middle of the report, not at its edges."""
_READ_BUFFER: Final = 1024 * 1024
_SCRIPT: Final = "talaria.testing.ops_report.script:analyst"


class Addresses(msgspec.Struct, frozen=True, gc=False):
    """Where the processes listen."""

    alerts: str
    logs: str
    server: str


class Played(msgspec.Struct, frozen=True, gc=False):
    """What came of it: the evidence, and the day that was "yesterday" when the question was asked."""

    evidence: Evidence
    today: date


async def play(options: Options, place: Workspace, watcher: Watcher, started: Callable[[Addresses], None]) -> Played:
    """Run the whole job once.

    Raises:
        StartError: a process did not start.
        AskError: the server refused or lost the stream.
        TimeoutError: it took longer than `options.limit`.
    """
    token = secrets.token_urlsafe(24)
    async with asyncio.timeout(options.limit), children(place.environ, place.folder, place.log) as processes:
        addresses = await _start(options, processes, token)
        started(addresses)
        async with ClientSession(read_bufsize=_READ_BUFFER) as http:
            client = Client(http, addresses.server, watcher, CUT_AFTER)
            today = datetime.now(options.zone).date()
            streamed = await client.ask({"query": options.query, "toolContext": {TOKEN: token}})
            return Played(
                Evidence(
                    streamed=streamed,
                    replayed=await replay(http, addresses.server, streamed.run_id),
                    cut_at=client.cut_at,
                    alert_queries=await _asked(http, addresses.alerts, token),
                    log_queries=await _asked(http, addresses.logs, token),
                    secret=token,
                ),
                today,
            )


async def _start(options: Options, processes: Children, token: str) -> Addresses:
    alerts, logs, model = await asyncio.gather(
        processes.listening(_service("alerts", options), {"OPS_TOKEN": token}),
        processes.listening(_service("logs", options), {"OPS_TOKEN": token}),
        _model(options, processes),
    )
    environ = {ALERTS_URL: alerts, LOGS_URL: logs, "DEMO_MODEL_URL": model}
    serve = ("-m", "talaria", "serve", "--config", CONFIGURATION, "--port", "0")
    return Addresses(alerts, logs, await processes.listening(serve, environ))


def _service(kind: str, options: Options) -> tuple[str, ...]:
    today = datetime.now(options.zone).date()
    data = ("--seed", str(options.seed), "--today", str(today), "--zone", str(options.zone))
    return ("-m", "talaria.demo.services", kind, *data, "--lost-page", str(options.lost_page))


async def _model(options: Options, processes: Children) -> str:
    if not options.model.is_scripted:
        return options.model.base_url
    address = await processes.listening(("-m", "talaria.testing.model_server", "--script", _SCRIPT))
    return f"{address}/v1"


async def _asked(http: ClientSession, address: str, token: str) -> tuple[Query, ...]:
    async with http.get(f"{address}/asked", headers={"Authorization": f"Bearer {token}"}) as reply:
        return msgspec.json.decode(await reply.read(), type=tuple[Query, ...])
