"""Two directions of one connection: both go on until either has ended."""

import asyncio
from collections.abc import Coroutine
from typing import Any


async def two_ways(inward: Coroutine[Any, Any, None], outward: Coroutine[Any, Any, None]) -> None:
    """Run both until one has ended, then cancel the other; raise what either raised."""
    tasks = [asyncio.create_task(inward, name="preview inward"), asyncio.create_task(outward, name="preview outward")]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()
