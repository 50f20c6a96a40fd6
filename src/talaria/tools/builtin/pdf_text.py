"""A program of its own: reads a PDF from standard input and writes the text of some pages as JSON.

`python -I pdf_text.py FIRST COUNT MOST`: at most COUNT pages from FIRST on, at most MOST characters. It limits its own
memory and time, for files that are made to take all of it.
"""

import io
import json
import resource
import sys
from contextlib import suppress

MEMORY = 1024 * 1024 * 1024
SECONDS = 30


def limit() -> None:
    """Take no more than that."""
    for what, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_NOFILE, 64)):
        with suppress(ValueError, OSError):  # macOS has no limit of memory
            resource.setrlimit(what, (most, most))


def pages(data: bytes, first: int, count: int, most: int) -> dict[str, object]:
    """Return {pages: how many there are, texts: [[number, text]], more: whether MOST was reached}."""
    from pypdf import PdfReader  # noqa: PLC0415 - within the limits

    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        return {"error": "it is encrypted with a password"}
    total = len(reader.pages)
    texts: list[tuple[int, str]] = []
    for number in range(first, min(first + count, total + 1)):
        text = reader.pages[number - 1].extract_text()[:most]
        most -= len(text)
        texts.append((number, text))
        if most <= 0:
            break
    return {"pages": total, "texts": texts}


def main() -> None:
    """Do it, whatever the file is."""
    limit()
    first, count, most = map(int, sys.argv[1:])
    try:
        found = pages(sys.stdin.buffer.read(), first, count, most)
    except MemoryError:
        found = {"error": "it takes too much memory"}
    except Exception as error:  # noqa: BLE001 - a file made to break its reader
        found = {"error": f"{type(error).__name__}: {error}"[:300]}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
