"""Metrics for Prometheus."""

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from talaria.runtime.scrape import scrape
from talaria.server.call import Call


async def metrics(call: Call) -> Response:
    """What was counted since the start, and how things stand."""
    return Response(await scrape(call.parts, len(call.streams)), media_type=CONTENT_TYPE_LATEST)
