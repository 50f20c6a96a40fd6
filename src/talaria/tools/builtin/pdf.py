"""The text of PDF files, read in a process of its own with limits of time and memory."""

import asyncio
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from talaria.core.errors import InvalidRequest
from talaria.core.text import valid_text

LARGEST = 16 * 1024 * 1024
PAGES = 20
"""At once."""
SECONDS = 40.0
_PROGRAM = Path(__file__).with_name("pdf_text.py")


async def pdf_page_texts(data: bytes, first: int, count: int, most: int) -> tuple[int, list[tuple[int, str]]]:
    """Return how many pages there are, and the numbers and texts of at most `count` of them.

    Raises:
        InvalidRequest: it cannot be read.
    """
    arguments = [str(_PROGRAM), str(first), str(min(count, PAGES)), str(most)]
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    reader = await asyncio.create_subprocess_exec(
        sys.executable, "-I", *arguments, stdin=pipe, stdout=pipe, stderr=nothing, env={"LANG": "C.UTF-8"}
    )
    try:
        async with asyncio.timeout(SECONDS):
            said, _ = await reader.communicate(data)
    except TimeoutError:
        raise InvalidRequest(f"the PDF takes longer than {SECONDS:g} s to read") from None
    finally:
        with suppress(ProcessLookupError):
            reader.kill()
        await reader.wait()
    found = _found(said)
    return found["pages"], [(number, valid_text(text)) for number, text in found["texts"]]


def _found(said: bytes) -> dict[str, Any]:
    """What the reader said; it may have been ended while it read."""
    try:
        found: dict[str, Any] = json.loads(said)
    except ValueError:
        found = {"error": "reading it takes too much time or memory"}
    if "error" in found:
        raise InvalidRequest(f"the PDF cannot be read: {found['error']}")
    return found
