"""The days that the tests of the demo look at, and its services in this process."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import date
from zoneinfo import ZoneInfo

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from talaria.demo.data import World, make_world
from talaria.demo.services import RecordService

Client = TestClient[web.Request, web.Application]
TOKEN = "the-token-of-the-services"
SHANGHAI = ZoneInfo("Asia/Shanghai")
TODAY = date(2026, 3, 10)
YESTERDAY = date(2026, 3, 9)
START, END = "2026-03-09T00:00:00+08:00", "2026-03-10T00:00:00+08:00"
SENT = "[Sent Tuesday 2026-03-10 08:30, Asia/Shanghai (UTC+08:00)]"


def world(seed: int = 7) -> World:
    return make_world(seed, TODAY, SHANGHAI)


@asynccontextmanager
async def serving(kind: str, records: World, lost_page: int = 0) -> AsyncGenerator[tuple[RecordService, Client]]:
    service = RecordService(kind, records, TOKEN, lost_page)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with TestClient(TestServer(service.app()), headers=headers) as client:
        yield service, client
