"""The demo's two HTTP services, each a process: alerts and logs, in pages, for whoever has the token.

`python -m talaria.demo.services alerts --seed 7 --today 2026-11-30 --zone Asia/Shanghai` prints `PORT n`. The token is
OPS_TOKEN of the environment. `GET /asked` tells for what it was asked, so that the demo can check that.
"""

import argparse
import asyncio
import os
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
from aiohttp import web

from talaria.demo.data import World, make_world
from talaria.demo.query import Query, QueryError, read_query
from talaria.demo.records import Alert, AlertPage, LogLine, LogPage

PAGE_SIZE = 50
_FIELDS = {"alerts": ("severity", "service"), "logs": ("level", "service")}


class RecordService:
    """Answers for records of one kind: "alerts" or "logs". What is on page `lost_page` it loses; 0 loses nothing."""

    def __init__(self, kind: str, world: World, token: str, lost_page: int = 0) -> None:
        self._kind = kind
        self._records: tuple[Alert, ...] | tuple[LogLine, ...] = world.alerts if kind == "alerts" else world.lines
        self._token = token
        self._lost_page = lost_page
        self.asked: list[Query] = []

    def app(self) -> web.Application:
        """Return it as a web application."""
        app = web.Application(middlewares=[self._guarded])
        app.router.add_get(f"/{self._kind}", self._list)
        app.router.add_get("/asked", self._tell)
        return app

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if request.headers.get("Authorization") != f"Bearer {self._token}":
            return web.json_response({"detail": "send the token as Authorization: Bearer …"}, status=401)
        return await handler(request)

    async def _list(self, request: web.Request) -> web.Response:
        try:
            query = read_query(request.query, _FIELDS[self._kind])
        except QueryError as error:
            return web.json_response({"detail": str(error)}, status=400)
        self.asked.append(query)
        return _json(self._page(query))

    async def _tell(self, _: web.Request) -> web.Response:
        return _json(self.asked)

    def _page(self, query: Query) -> AlertPage | LogPage:
        """What a query finds; what has not happened yet is found by none."""
        happened = msgspec.structs.replace(query, end=min(query.end, datetime.now(UTC)))
        found = [record for record in self._records if _matches(record, happened)]
        pages = max(1, -(-len(found) // PAGE_SIZE))
        first = (query.page - 1) * PAGE_SIZE
        items: Any = () if query.page == self._lost_page else tuple(found[first : first + PAGE_SIZE])
        return AlertPage(query.page, pages, items) if self._kind == "alerts" else LogPage(query.page, pages, items)


def _matches(record: Alert | LogLine, query: Query) -> bool:
    in_range = query.start <= record.at < query.end
    return in_range and all(getattr(record, name) == value for name, value in query.filters.items())


def _json(value: object) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json")


async def serve(service: RecordService, port: int = 0) -> None:
    """Serve on loopback, and say on which port, until the process is ended."""
    runner = web.AppRunner(service.app(), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        print(f"PORT {runner.addresses[0][1]}", flush=True)
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the alerts or the logs of the days around a date."""
    parser = argparse.ArgumentParser(prog="python -m talaria.demo.services", description=main.__doc__)
    parser.add_argument("kind", choices=sorted(_FIELDS))
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--today", type=date.fromisoformat, required=True)
    parser.add_argument("--zone", type=ZoneInfo, required=True)
    parser.add_argument("--lost-page", type=int, default=0, help="lose what is on this page, to see the demo fail")
    options = vars(parser.parse_args(arguments))
    world = make_world(options["seed"], options["today"], options["zone"])
    service = RecordService(options["kind"], world, os.environ.get("OPS_TOKEN", ""), options["lost_page"])
    asyncio.run(serve(service))


if __name__ == "__main__":
    main()
