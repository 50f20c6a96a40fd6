"""WebFetch: the built-in tool that reads a page of the web."""

from http import HTTPStatus
from typing import Any

from talaria.core.errors import FetchFailed
from talaria.fetch import Fetcher
from talaria.tools.declaration import Tool
from talaria.tools.web.readable import Reader

GROUP = "web"
_HEADERS = (
    ("User-Agent", "Mozilla/5.0 (compatible; talaria)"),
    ("Accept", "text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.5"),
)


class FetchPage:
    """Reads pages by way of a fetcher."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._reader = Reader()

    async def __call__(self, url: str, links: bool = False) -> str:
        """Return a page as Markdown, with its title, its address, and where it leads if that is wanted.

        Raises:
            FetchFailed: the page cannot be had, or holds no text.
        """
        page = await self._fetcher.fetch(url, headers=_HEADERS)
        if page.status >= 400:
            raise FetchFailed(f"{page.url.origin} answered {status_line(page.status)}")
        read = await self._reader.read(page)
        parts = [f"# {read.title}"] if read.title and not read.text.startswith("# ") else []
        parts += [f"From {page.url}", read.text.strip() or "(There is no text on this page.)"]
        if links and read.links:
            parts.append("Links:\n" + "\n".join(f"- [{words}]({target})" for words, target in read.links))
        return "\n\n".join(parts)


def status_line(status: int) -> str:
    """Return a status and what it is called."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def web_fetch(fetcher: Fetcher) -> Tool[..., Any]:
    """Make the tool."""
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": {
            "url": {"type": "string", "minLength": 1, "description": "A whole http or https address."},
            "links": {"type": "boolean", "default": False, "description": "Also list where the page leads."},
        },
        "required": ["url"],
        "additionalProperties": False,
    }
    return Tool(
        "WebFetch",
        "Read a page of the public web, HTML or PDF, as Markdown. It sends nothing but the address.",
        parameters,
        FetchPage(fetcher),
        group=GROUP,
        side_effects=False,
        untrusted=True,
        breaker=False,
        source="builtin",
    )
