"""An endpoint: what answers one method of one path, and what the OpenAPI document says of it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog
from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from talaria.core.errors import InternalError, TalariaError
from talaria.core.ids import new_id
from talaria.server.call import Call
from talaria.server.event_stream import EventStream
from talaria.server.problems import Refused, problem


class Answer(Protocol):
    """Answers a request as an ASGI application; to `headers` is added what every answer has."""

    @property
    def headers(self) -> MutableHeaders:
        """The headers."""
        ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Write the answer."""
        ...


class Handler(Protocol):
    """Answers a request."""

    __name__: str

    def __call__(self, call: Call, /) -> Awaitable[Answer]:
        """Answer, or raise a TalariaError that becomes a problem document."""
        ...


MakeCall = Callable[[Request, "Endpoint"], Awaitable[Call]]
MakeHeaders = Callable[[Request], dict[str, str]]

_log = structlog.get_logger("talaria.server")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one path.

    `answer` is the model of a JSON answer, `text` the media type of another one (where both are, the client chooses),
    `problems` are codes of what may go wrong, `query` are parameters with what they mean. `resumes`: a stream that
    begins after an event id. `is_public`: it asks for no login. `pages`: statuses,
    besides the good one, that have a page for people. `takes_file`: its body is a form with one file.
    `gives_file`: it answers with a file, or a range of one.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    body: type[BaseModel] | None = None
    answer: type[BaseModel] | None = None
    text: str = ""
    status: int = 200
    is_stream: bool = False
    resumes: bool = False
    is_public: bool = False
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    problems: Sequence[str] = ()
    pages: Sequence[int] = ()
    takes_file: bool = False
    gives_file: bool = False

    @property
    def name(self) -> str:
        """The name of the operation: that of what handles it, in camelCase."""
        return to_camel(self.handler.__name__)


class Resource:
    """All methods of one path, as an ASGI application: the boundary at which every error becomes an answer."""

    def __init__(self, endpoints: Sequence[Endpoint], make_call: MakeCall, cors: MakeHeaders) -> None:
        self._endpoints = {each.method: each for each in endpoints}
        self._methods = ", ".join(sorted({*self._endpoints, *(["HEAD"] if "GET" in self._endpoints else [])}))
        self._make_call = make_call
        self._cors = cors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        answer = await self._answer(request)
        if request.method == "HEAD" and isinstance(answer, EventStream):
            answer = answer.head()
        elif request.method == "HEAD" and isinstance(answer, StreamingResponse):
            answer = Response(headers=answer.headers)
        answer.headers.update(self._cors(request))
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Answer:
        try:
            endpoint = self._endpoint(request.method)
            return await endpoint.handler(await self._make_call(request, endpoint))
        except TalariaError as error:
            return problem(error) if error.code != "internal" else self._fault(request, error)
        except Exception as error:  # noqa: BLE001
            return self._fault(request, error)

    def _endpoint(self, method: str) -> Endpoint:
        endpoint = self._endpoints.get("GET" if method == "HEAD" else method)
        if endpoint is None:
            raise Refused(405, f"{method[:20]} is not possible here; use {self._methods}", {"Allow": self._methods})
        return endpoint

    def _fault(self, request: Request, error: Exception) -> Response:
        fault = new_id("err")
        path = request.url.path.replace(request.path_params.get("token", "\0"), "…")  # it decides
        _log.error("request_failed", fault=fault, method=request.method, path=path, exc_info=error)
        return problem(InternalError(f"something went wrong inside the server; its log explains {fault}"))
