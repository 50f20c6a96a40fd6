"""HTML and PDF to Markdown, in a process of its own: pages are hostile, and their parsers take as long as they like.

Run as a file: `python convert.py html|pdf URL`, a PDF or HTML in UTF-8 on standard input, one JSON object on standard
output.
"""

import io
import json
import logging
import sys
from typing import Any

MOST_PAGES = 300
MOST_TEXT = 1_000_000
MOST_LINKS = 300
CPU_SECONDS = 15
MEMORY = 1536 * 1024 * 1024
_HIDDEN = [
    "//*[@hidden]",
    "//*[@aria-hidden='true']",
    "//*[contains(translate(@style, ' ', ''), 'display:none')]",
    "//*[contains(translate(@style, ' ', ''), 'visibility:hidden')]",
]
"""What people do not see, models do not get."""


def html(data: bytes, url: str) -> dict[str, Any]:
    """The main part of a page as Markdown, its title and its links."""
    import trafilatura  # noqa: PLC0415 - slow, and only of use here

    text = data.decode("utf-8")
    tree: Any = trafilatura.load_html(text)
    if tree is None:
        return {"text": text}
    base = tree.find(".//base[@href]")
    title = " ".join((tree.findtext(".//title") or "").split())
    links = _links(tree, url if base is None else str(base.get("href")))
    found = trafilatura.extract(
        text,
        url=url,
        output_format="markdown",
        include_links=True,
        include_comments=False,
        favor_recall=True,
        prune_xpath=_HIDDEN,
    )
    return {"title": title[:500], "text": found or trafilatura.html2txt(text), "links": links}


def _links(tree: Any, base: str) -> list[list[str]]:
    tree.make_links_absolute(base, handle_failures="ignore")
    found: dict[str, str] = {}
    for each in tree.iter("a"):
        target, words = str(each.get("href") or ""), " ".join(str(each.text_content()).split())[:120]
        if words and target.startswith(("http://", "https://")):
            found.setdefault(target, words)
        if len(found) == MOST_LINKS:
            break
    return [[words, target] for target, words in found.items()]


def pdf(data: bytes) -> dict[str, Any]:
    """The text of a PDF, page by page."""
    import pypdf  # noqa: PLC0415 - see above

    reader: Any = pypdf.PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        return {"problem": "the PDF has a password"}
    about: Any = reader.metadata
    title, pages, size = str(about.title or "") if about else "", list[str](), 0
    for number, page in enumerate(reader.pages, 1):
        text = page.extract_text().strip()
        size += len(text)
        if text:
            pages.append(f"## Page {number}\n\n{text}")
        if size > MOST_TEXT or number == MOST_PAGES:
            break
    if not pages:
        return {"problem": "the PDF holds no text, perhaps pictures of it"}
    return {"title": title[:500], "text": "\n\n".join(pages)}


def _limit() -> None:
    """Bound time and memory, where the system can."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - not everywhere

        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def main(kind: str, url: str) -> None:
    """Convert what comes on standard input."""
    _limit()
    logging.disable()
    data = sys.stdin.buffer.read()
    done = pdf(data) if kind == "pdf" else html(data, url)
    done["text"] = str(done.get("text") or "")[:MOST_TEXT]
    sys.stdout.buffer.write(json.dumps(done).encode("ascii"))


if __name__ == "__main__":
    main(*sys.argv[1:3])
