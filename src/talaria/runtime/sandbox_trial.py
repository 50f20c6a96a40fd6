"""The trial of sandboxes: one is started, runs a command, and goes."""

import asyncio
import time
from typing import NamedTuple

from talaria.core.errors import SandboxUnavailable
from talaria.core.ids import SessionKey
from talaria.ports.sandbox import Command
from talaria.runtime.clock import SystemClock
from talaria.runtime.sandboxes import Sandboxes, Site
from talaria.runtime.settings import Settings
from talaria.runtime.stores import open_store
from talaria.telemetry.metrics import Metrics

WORDS = b"it works"


class Tried(NamedTuple):
    """What came of it, in words. `has_failed`: sandboxes cannot be had."""

    words: str
    has_failed: bool


async def try_sandbox(settings: Settings) -> Tried:
    """Start a sandbox of the configured kind beside those of a server that runs, and run a command in it."""
    if settings.sandbox.kind == "none":
        return Tried("off: sandbox.kind is none", has_failed=False)
    site = (await asyncio.to_thread(Site.of, settings))._replace(state=None)
    store = await open_store("memory://")
    sandboxes = Sandboxes(site, SystemClock(), Metrics(), store.journal)
    began = time.monotonic()
    try:
        async with sandboxes.use(SessionKey("doctor", "doctor", "-", "trial")) as place:
            assert place.sandbox is not None
            started = time.monotonic()
            exited = await place.sandbox.exec(Command(argv=["sh", "-c", f"printf '{WORDS.decode()}'"], timeout=10))
    except SandboxUnavailable as error:
        return Tried(error.message, has_failed=True)
    finally:
        await sandboxes.close()
        await store.close()
    if exited.head != WORDS:
        said = (exited.head + exited.tail).decode("utf-8", "replace")
        return Tried(f"{sandboxes.kind}: a command ended with {exited.exit_code}: {said}", has_failed=True)
    start, run = (started - began) * 1000, (time.monotonic() - started) * 1000
    return Tried(f"{sandboxes.kind} ({sandboxes.why}): started in {start:.0f} ms, a command took {run:.0f} ms", False)
