"""The demo's services: ranges, filters, pages, what they refuse, and what they remember."""

from datetime import datetime
from typing import Any

import pytest

from talaria.demo.services import PAGE_SIZE
from tests.demo.ground import END, START, YESTERDAY, Client, serving, world

DAY = {"from": START, "to": END}


async def get(client: Client, path: str, **parameters: str) -> dict[str, Any]:
    async with client.get(path, params={**DAY, **parameters}) as reply:
        return {"status": reply.status, **await reply.json()}


async def all_items(client: Client, path: str, **parameters: str) -> list[dict[str, Any]]:
    first = await get(client, path, **parameters)
    rest = [await get(client, path, page=str(page), **parameters) for page in range(2, first["pages"] + 1)]
    return [item for page in (first, *rest) for item in page["items"]]


async def test_all_pages_together_are_the_alerts_of_the_range() -> None:
    async with serving("alerts", world()) as (_, client):
        items = await all_items(client, "/alerts")
        assert len({item["id"] for item in items}) == world().truths[YESTERDAY].alerts
        assert len(items) > PAGE_SIZE


async def test_a_filter_leaves_what_fits_it() -> None:
    truth = world().truths[YESTERDAY]
    async with serving("alerts", world()) as (_, client):
        critical = await all_items(client, "/alerts", severity="critical", service="库存服务")
        assert {(item["severity"], item["service"]) for item in critical} <= {("critical", "库存服务")}
    async with serving("logs", world()) as (_, client):
        errors = await all_items(client, "/logs", service="search-api", level="ERROR")
        assert len({item["id"] for item in errors}) == truth.errors["search-api"]


async def test_a_service_remembers_the_ranges_it_was_asked_for() -> None:
    async with serving("alerts", world()) as (service, client):
        await get(client, "/alerts", severity="info")
        await get(client, "/alerts", page="2")
        [first, second] = service.asked
        assert (first.start, first.end) == (datetime.fromisoformat(START), datetime.fromisoformat(END))
        assert (first.filters, second.page) == ({"severity": "info"}, 2)


async def test_what_has_not_happened_yet_is_not_found() -> None:
    async with serving("alerts", world()) as (_, client):
        later = await get(client, "/alerts", **{"from": "2126-01-01T00:00:00Z", "to": "2126-01-02T00:00:00Z"})
        assert (later["pages"], later["items"]) == (1, [])


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"from": "2026-03-09T00:00:00"}, "'from' has no offset"),
        ({"to": "yesterday"}, "'to' must be a time"),
        ({"from": END, "to": START}, "must be earlier"),
        ({"page": "0"}, "counts from 1"),
        ({"colour": "red"}, "no parameter 'colour'"),
    ],
)
async def test_a_wrong_parameter_is_refused_and_named(parameters: dict[str, str], says: str) -> None:
    async with serving("alerts", world()) as (service, client):
        answer = await get(client, "/alerts", **parameters)
        assert answer["status"] == 400
        assert says in answer["detail"]
        assert service.asked == []


async def test_without_the_token_there_is_nothing() -> None:
    other = {"Authorization": "Bearer other"}
    async with serving("alerts", world()) as (_, client), client.get("/alerts", params=DAY, headers=other) as reply:
        assert reply.status == 401


async def test_a_lost_page_is_empty_and_the_others_are_not() -> None:
    async with serving("alerts", world(), lost_page=2) as (_, client):
        assert (await get(client, "/alerts", page="2"))["items"] == []
        assert (await get(client, "/alerts"))["items"] != []
