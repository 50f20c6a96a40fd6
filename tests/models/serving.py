"""A web server on loopback."""

from typing import Any

from aiohttp import web


class Serving:
    """A web server with one handler for all requests, on loopback."""

    def __init__(self, handler: Any) -> None:
        app = web.Application()
        app.router.add_post("/{path:.*}", handler)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)

    async def __aenter__(self) -> str:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()
