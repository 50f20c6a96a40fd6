"""Headless Chromium, driven through its DevTools protocol: pages, what they say of themselves, and keys."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse

from tests.polling import eventually
from tests.services import require

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
)
"""https://developer.chrome.com/docs/chromium/headless; its own sandbox does not work for root."""
KEYS = {"ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39}
LIMIT = 20.0


class Page:
    """One page."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method (https://chromedevtools.github.io/devtools-protocol); events in between are dropped."""
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": parameters})
        async with asyncio.timeout(LIMIT):
            while True:
                message = json.loads(await self._socket.receive_str())
                if message.get("id") == self._number:
                    assert "error" not in message, message
                    return message["result"]

    async def open(self, url: str) -> None:
        """Go to an address and wait until its page is there."""
        gone = await self.call("Page.navigate", url=url)
        assert "errorText" not in gone, gone

        async def is_there() -> bool:
            return await self.value("document.readyState") == "complete" and await self.value("location.href") == url

        await eventually(is_there, "the page")

    async def value(self, expression: str) -> Any:
        """What an expression of the page is, once its promise is kept."""
        said = await self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in said, said
        return said["result"].get("value")

    async def press(self, key: str) -> None:
        """Press a key and let it go."""
        about = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        for kind in ("rawKeyDown", "keyUp"):
            await self.call("Input.dispatchKeyEvent", type=kind, **about)


@asynccontextmanager
async def browser() -> AsyncGenerator[Page]:
    """Start Chromium with an empty profile; give a page of it."""
    program = require("chromium")
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            *(program, *FLAGS, f"--user-data-dir={profile}", "about:blank"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with ClientSession() as http, http.ws_connect(await _page_url(http, Path(profile))) as socket:
                yield Page(socket)
                await socket.send_json({"id": 0, "method": "Browser.close"})
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


async def _page_url(http: ClientSession, profile: Path) -> str:
    place = profile / "DevToolsActivePort"

    async def is_listening() -> bool:
        return await asyncio.to_thread(lambda: place.exists() and bool(place.read_text().strip()))

    await eventually(is_listening, "Chromium listening", LIMIT)
    port = (await asyncio.to_thread(place.read_text)).splitlines()[0]
    async with http.get(f"http://127.0.0.1:{port}/json/list") as answer:
        pages = [each for each in await answer.json() if each["type"] == "page"]
    return str(pages[0]["webSocketDebuggerUrl"])
