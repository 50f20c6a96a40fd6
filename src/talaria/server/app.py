"""The ASGI application of a runtime."""

import asyncio

from starlette.requests import HTTPConnection, Request
from starlette.routing import BaseRoute, Route, Router, WebSocketRoute
from starlette.types import Receive, Scope, Send

from talaria.core.errors import NotFound, Unauthenticated
from talaria.core.principal import Principal
from talaria.runtime.login import make_authenticator
from talaria.runtime.runtime import Runtime
from talaria.server.call import Call
from talaria.server.cors import Cors
from talaria.server.endpoint import Endpoint, MakeCall, Resource
from talaria.server.endpoints import ENDPOINTS, PASSED, PREVIEWED
from talaria.server.hosts import Hosts
from talaria.server.preview import Sockets
from talaria.server.problems import problem
from talaria.server.streams import Streams

LAST_WORDS = 0.1
"""Seconds that streams of runs which have just ended get to be written out."""


NOBODY = Principal()


class Application:
    """Serves a runtime over HTTP. Under a server that speaks the lifespan protocol it opens and closes it too."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.streams = Streams(runtime.settings.server)
        self._hosts = Hosts(runtime.settings)
        self._cors = Cors(runtime.settings.server.cors)
        self._login = make_authenticator(runtime.settings.auth, self._now)
        sockets = WebSocketRoute(PREVIEWED, Sockets(lambda: runtime.parts, self.streams))
        routes: list[BaseRoute] = [*_routes(self._call, self._cors), sockets]
        self._router = Router(routes, redirect_slashes=False, default=self._unknown)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as an ASGI application."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            request = Request(scope)
            answer = self._hosts.refusal(request) or self._cors.preflight(request)
            await (answer or self._router)(scope, receive, send)
        elif self._hosts.refusal(HTTPConnection(scope)):
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._router(scope, receive, send)

    async def stop(self, grace: float) -> None:
        """Take no more runs, give running ones `grace` seconds, then end all streams."""
        await self._runtime.parts.engine.stop(grace)
        if self.streams:
            await asyncio.sleep(LAST_WORDS)
        self.streams.end_all()

    async def _call(self, request: Request, endpoint: Endpoint) -> Call:
        who = NOBODY if endpoint.is_public else await self._who(request)
        return Call(request, self._runtime.parts, self.streams, who)

    def _now(self) -> int:
        return self._runtime.parts.kit.clock.now()

    async def _who(self, request: Request) -> Principal:
        try:
            return await self._login.authenticate(request.headers)
        except Unauthenticated as error:
            if request.headers.get("authorization"):
                where = request.client.host if request.client else "an unknown address"
                await self._runtime.parts.kit.audit.login_refused(f"{error.message}; from {where}")
            raise

    async def _unknown(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
            return
        path = str(scope["path"])
        answer = problem(NotFound(f"there is nothing at '{path[:200]}'; GET /openapi.json lists what there is"))
        answer.headers.update(self._cors.headers(Request(scope)))
        await answer(scope, receive, send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await self._runtime.__aenter__()
        except Exception as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            raise
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.stop(self._runtime.settings.server.grace)
        await self._runtime.close(0.0)
        await send({"type": "lifespan.shutdown.complete"})


def make_app(runtime: Runtime) -> Application:
    """Return the ASGI application that serves `runtime`, which is opened by the caller or by the lifespan protocol."""
    return Application(runtime)


def _routes(make_call: MakeCall, cors: Cors) -> list[Route]:
    paths: dict[str, list[Endpoint]] = {}
    for endpoint in (*ENDPOINTS, *PASSED):
        paths.setdefault(endpoint.path, []).append(endpoint)
    return [Route(path, Resource(each, make_call, cors.headers)) for path, each in paths.items()]
