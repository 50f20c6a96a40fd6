"""The tools that a request brought, made of what is on record of them and of their secrets."""

from collections.abc import Mapping
from typing import Any

from talaria.core.external import ExternalTool
from talaria.fetch import Fetcher
from talaria.tools.declaration import Tool
from talaria.tools.sources.client import client_tool
from talaria.tools.sources.dify import dify_tool
from talaria.tools.sources.http import http_tool


def external_tool(spec: ExternalTool, secrets: Mapping[str, str], fetcher: Fetcher) -> Tool[..., Any]:
    """Return the tool. Without its secrets it only shows what a model sees of it."""
    match spec.platform:
        case "client":
            return client_tool(spec)
        case "http":
            hidden = {name: secrets.get(spec.secret(f"headers.{name}"), "") for name in spec.secret_headers}
            return http_tool(spec, {**spec.headers, **hidden}, fetcher)
        case "dify":
            return dify_tool(spec, secrets.get(spec.secret("apiKey"), ""), fetcher)
