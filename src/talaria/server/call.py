"""One HTTP request, as the handlers see it: the runtime's parts, who asks, what was sent."""

from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from talaria.core.principal import Principal
from talaria.runtime.admission import speaker
from talaria.runtime.build import Parts
from talaria.server.streams import Streams


@dataclass(frozen=True, slots=True)
class Call:
    """A request on its way through a handler."""

    request: Request
    parts: Parts
    streams: Streams
    credential: Principal

    @property
    def principal(self) -> Principal:
        """Who asks. Without a login this is everybody, unless the query names a user (`?userId=`).

        Raises:
            Forbidden: the query names a user other than the credential's.
        """
        return speaker(self.credential, self.query("userId"))

    def path(self, name: str) -> str:
        """A parameter of the path."""
        return str(self.request.path_params[name])

    def query(self, name: str) -> str | None:
        """A parameter of the query; an empty one is none."""
        return self.request.query_params.get(name) or None


def reply(value: Any, status: int = 200) -> Response:
    """A JSON answer, never kept by a cache."""
    return Response(msgspec.json.encode(value), status, {"Cache-Control": "no-store"}, "application/json")
