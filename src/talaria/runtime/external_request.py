"""Tools that a request brings (`externalTools`): as a client writes them, as they go on record, and their secrets."""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from pydantic import Field

from talaria.core.errors import FetchRefused, InvalidRequest
from talaria.core.external import ExternalTool
from talaria.fetch.url import read_url
from talaria.runtime.body import Body
from talaria.tools.declaration import NAME
from talaria.tools.errors import ToolInvalid
from talaria.tools.sources.client import client_tool

MOST = 64
MAX_SCHEMA = 64 * 1024
"""Bytes that the schema of one tool may have, as JSON."""
OPEN_HEADERS = ("accept", "accept-language", "content-type", "user-agent")
"""Headers that are no secrets: their values are common words, and not to be masked in results."""
OUR_HEADERS = ("host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect")
"""Headers that the connection itself sets."""

_Header = Annotated[str, Field(min_length=1, max_length=256, pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]
_Value = Annotated[str, Field(max_length=8192, pattern=r"^[\t\x20-\x7e\x80-\uffff]*$")]
_QUESTION: dict[str, Any] = {
    "type": "object",
    "properties": {"query": {"type": "string", "minLength": 1, "description": "What is asked."}},
    "required": ["query"],
}


class _External(Body):
    """What all of them have."""

    name: Annotated[str, Field(pattern=f"^(?:{NAME.pattern})$")]
    description: Annotated[str, Field(max_length=10_000)] = ""
    input_schema: dict[str, Any] = {"type": "object", "properties": {}}


class DifyTool(_External):
    """An app of a Dify server: `baseUrl` as Dify shows it, with its version; `app` says which kind of app it is."""

    platform: Literal["dify"]
    base_url: Annotated[str, Field(min_length=1, max_length=2048)]
    api_key: Annotated[str, Field(min_length=1, max_length=1024, pattern=r"^[\x21-\x7e]+$", repr=False)]
    app: Literal["workflow", "chat"] = "workflow"
    response_mode: Literal["streaming", "blocking"] = "streaming"


class HttpTool(_External):
    """An HTTP endpoint: arguments go into the query of GET and DELETE, and as JSON into the body of the others."""

    platform: Literal["http"]
    url: Annotated[str, Field(min_length=1, max_length=8192)]
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    headers: Annotated[dict[_Header, _Value], Field(max_length=32, repr=False)] = {}


class ClientTool(_External):
    """A tool of the caller, who runs its calls and says what came of them."""

    platform: Literal["client"]


AnyExternal = Annotated[DifyTool | HttpTool | ClientTool, Field(discriminator="platform")]


def read_external(brought: Sequence[AnyExternal], taken: Collection[str]) -> tuple[ExternalTool, ...]:
    """Check the tools of a request, and return what goes on record of them. `taken`: names that others have.

    Raises:
        InvalidRequest: one of them cannot be offered; `errors` name the field.
    """
    names = {name.casefold() for name in taken}
    out: list[ExternalTool] = []
    for at, each in enumerate(brought):
        where = f"externalTools[{at}]"
        if each.name.casefold() in names:
            raise _refused(f"{where}.name", f"there is a tool named '{each.name}' already; give this one another name")
        names.add(each.name.casefold())
        out.append(_read(each, where))
    return tuple(out)


def external_secrets(brought: Sequence[AnyExternal], read: Sequence[ExternalTool]) -> dict[str, str]:
    """Their secrets, under the names by which each finds its own."""
    out: dict[str, str] = {}
    for each, tool in zip(brought, read, strict=True):
        match each:
            case DifyTool():
                out[tool.secret("apiKey")] = each.api_key
            case HttpTool():
                out |= {tool.secret(f"headers.{name}"): each.headers[name] for name in tool.secret_headers}
            case ClientTool():
                pass
    return out


def _read(each: AnyExternal, where: str) -> ExternalTool:
    schema = (
        _QUESTION
        if isinstance(each, DifyTool) and each.app == "chat" and not each.input_schema.get("properties")
        else each.input_schema
    )
    about = each.description.strip()
    match each:
        case DifyTool():
            url = _url(each.base_url, f"{where}.baseUrl").rstrip("/")
            about = about or f"Asks the Dify {each.app} '{each.name}'."
            read = ExternalTool(
                "dify", each.name, about, schema, url, app=each.app, streaming=each.response_mode == "streaming"
            )
        case HttpTool():
            open_, secret = _parted(each.headers, f"{where}.headers")
            about = about or f"Calls the HTTP endpoint '{each.name}'."
            url = _url(each.url, f"{where}.url")
            read = ExternalTool("http", each.name, about, schema, url, each.method, open_, secret)
        case ClientTool():
            read = ExternalTool("client", each.name, about or f"Runs '{each.name}' where the user is.", schema)
    _check_schema(read, f"{where}.inputSchema")
    return read


def _url(text: str, field: str) -> str:
    try:
        return str(read_url(text))
    except FetchRefused as error:
        raise _refused(field, error.message) from None


def _parted(headers: Mapping[str, str], field: str) -> tuple[dict[str, str], tuple[str, ...]]:
    folded = [name.lower() for name in headers]
    for name in folded:
        if name in OUR_HEADERS:
            raise _refused(field, f"'{name}' is set by the connection itself; leave it out")
        if folded.count(name) > 1:
            raise _refused(field, f"'{name}' is there twice")
    shown = {name: value for name, value in headers.items() if name.lower() in OPEN_HEADERS}
    return shown, tuple(name for name in headers if name not in shown)


def _check_schema(tool: ExternalTool, field: str) -> None:
    """Whatever its platform, a tool's schema must do as that of any tool."""
    size = len(msgspec.json.encode(tool.parameters))
    if size > MAX_SCHEMA:
        raise _refused(field, f"{size} bytes are more than the {MAX_SCHEMA} that a schema may have")
    try:
        _ = client_tool(tool).coercer
    except ToolInvalid as error:
        raise _refused(field, error.message.partition("\n")[0]) from None
    except RecursionError:
        raise _refused(field, "it is nested too deeply") from None


def _refused(field: str, message: str) -> InvalidRequest:
    return InvalidRequest(f"{field}: {message}", ({"field": field, "message": message},))
