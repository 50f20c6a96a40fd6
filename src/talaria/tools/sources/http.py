"""HTTP endpoints as tools: arguments in the query or the body, the answer as text."""

import json
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlencode

from talaria.core.external import ExternalTool
from talaria.fetch import Fetcher
from talaria.tools.declaration import Tool
from talaria.tools.errors import CallFailed
from talaria.tools.sources.page_text import page_text

IN_QUERY = ("GET", "DELETE")
"""Methods that have no body to put arguments into."""
LONGEST_PROBLEM = 4_000
"""Characters that are told of an answer that says no."""


def http_tool(spec: ExternalTool, headers: Mapping[str, str], fetcher: Fetcher) -> Tool[..., Any]:
    """Return the tool; `headers` are all that are sent."""

    async def call(**arguments: Any) -> str:
        url, body = _placed(spec, arguments)
        kind = {} if body is None else {"Content-Type": "application/json"}
        page = await fetcher.fetch(url, method=spec.method, headers=_joined(kind, headers), body=body)
        text = page_text(page)
        if page.status >= 400:
            raise CallFailed(f"HTTP {page.status}: {text[:LONGEST_PROBLEM]}")
        return text

    return Tool(
        spec.name,
        spec.description,
        spec.parameters,
        call,
        side_effects=spec.method != "GET",
        outside=True,
        untrusted=True,
        breaker=False,
        source="external",
    )


def _placed(spec: ExternalTool, arguments: Mapping[str, Any]) -> tuple[str, bytes | None]:
    if spec.method not in IN_QUERY:
        return spec.url, json.dumps(arguments, ensure_ascii=False).encode()
    query = urlencode([(name, _plain(item)) for name, value in arguments.items() for item in _items(value)])
    return (f"{spec.url}{'&' if '?' in spec.url else '?'}{query}" if query else spec.url), None


def _items(value: Any) -> list[Any]:
    """A list is a parameter that is there several times; null is one that is not."""
    if isinstance(value, list):
        return cast("list[Any]", value)
    return [] if value is None else [value]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _joined(ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[tuple[str, str]]:
    """All headers; those of the request count first."""
    named = {name.lower() for name in theirs}
    return [*((name, value) for name, value in ours.items() if name.lower() not in named), *theirs.items()]
