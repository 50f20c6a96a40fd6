"""A real nginx in front of a real server, for a test."""

import asyncio
import os
import socket
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import aiohttp
import uvicorn

from talaria.server.app import Application
from tests.polling import eventually, wait_until
from tests.services import require

_CONFIG = """
daemon off;
{user}
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log warn;
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  {http}
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://127.0.0.1:{upstream}; {location} }}
  }}
}}
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@contextmanager
def nginx(folder: Path, upstream: int, *, http: str = "", location: str = "") -> Generator[str]:
    """Start nginx in front of a port; give its URL. `http` and `location` are directives for these blocks."""
    program, port = require("nginx"), free_port()
    user = "user root;" if os.geteuid() == 0 else ""
    config = folder / "nginx.conf"
    config.write_text(
        _CONFIG.format(folder=folder, user=user, port=port, upstream=upstream, http=http, location=location)
    )
    process = subprocess.Popen([program, "-c", str(config), "-p", str(folder)], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: _listens(port), "nginx listening")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@asynccontextmanager
async def listening(app: Application) -> AsyncGenerator[int]:
    """Serve an application with uvicorn in this loop; give the port."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        config = uvicorn.Config(app, lifespan="off", ws="websockets-sansio", log_config=None, access_log=False)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[sock]))

        async def started() -> bool:
            return server.started

        await eventually(started, "uvicorn listening")
        try:
            yield int(sock.getsockname()[1])
        finally:
            app.streams.end_all()
            server.should_exit = True
            await serving


def session() -> aiohttp.ClientSession:
    """A client with a time limit."""
    return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30))
