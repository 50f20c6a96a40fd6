"""The OpenAPI document, made from the table of endpoints and the models of what they take and answer."""

import re
from collections.abc import Sequence
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

import msgspec
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from talaria.core.events import ChatEvent
from talaria.server.answers import Problem
from talaria.server.endpoint import Endpoint
from talaria.server.event_stream import HEADERS
from talaria.server.problems import MEDIA_TYPE, STATUS

REF = "#/components/schemas/"
FORM = {
    "type": "object",
    "properties": {"file": {"type": "string", "format": "binary"}},
    "required": ["file"],
    "additionalProperties": False,
}
CONDITIONS = {
    "Range": "one range of bytes",
    "If-Range": "the ETag of the file that the range is of",
    "If-None-Match": "ETags that the client has",
}
_PARAMETER = re.compile(r"\{(\w+)\}")


def openapi(endpoints: Sequence[Endpoint], *, login: bool = False) -> dict[str, Any]:
    """Return the document of a server with or without a login, as JSON values."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        operation = _operation(endpoint, login=login and not endpoint.is_public)
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "Talaria", "version": version("talaria-agent"), "description": "Runs LLM agents."},
        "paths": paths,
        "components": {
            "schemas": _schemas(endpoints),
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(endpoint: Endpoint, *, login: bool) -> dict[str, Any]:
    operation: dict[str, Any] = {"operationId": endpoint.name, "summary": endpoint.summary}
    parameters = [_in_path(name) for name in _PARAMETER.findall(endpoint.path)]
    parameters += [_in_query(name, text) for name, text in endpoint.query.items()]
    if endpoint.resumes:
        parameters.append(_parameter("header", "Last-Event-ID", "the id of the last event that the client has"))
    if endpoint.gives_file:
        parameters += [_parameter("header", name, text) for name, text in CONDITIONS.items()]
    if parameters:
        operation["parameters"] = parameters
    if endpoint.body is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": _ref(endpoint.body)}}
    if endpoint.takes_file:
        operation["requestBody"] = {"required": True, "content": {"multipart/form-data": {"schema": FORM}}}
    if login:
        operation["security"] = [{"key": []}]
    pages = {str(status): _page(endpoint, status) for status in endpoint.pages}
    if endpoint.gives_file:
        pages |= {"206": _good(endpoint), "304": {"description": "Not Modified"}}
    problems = _problems(endpoint, login=login)
    return operation | {"responses": {str(endpoint.status): _good(endpoint), **pages, **problems}}


def _page(endpoint: Endpoint, status: int) -> dict[str, Any]:
    content = {endpoint.text: {"schema": {"type": "string"}}}
    return {"description": HTTPStatus(status).phrase, "content": content}


def _good(endpoint: Endpoint) -> dict[str, Any]:
    response: dict[str, Any] = {"description": HTTPStatus(endpoint.status).phrase}
    if endpoint.is_stream:
        names = ("Cache-Control", "X-Accel-Buffering", "X-Run-Id", "X-Session-Id")
        fixed = {name: {"const": HEADERS[name]} if name in HEADERS else {} for name in names}
        response["description"] = "Events: an id line, unless the event has no id, and a data line with a ChatEvent"
        response["headers"] = {name: {"schema": {"type": "string"} | const} for name, const in fixed.items()}
        stream = {"schema": {"type": "string"}, "x-event": {"$ref": f"{REF}ChatEvent"}}
        response["content"] = {"text/event-stream": stream}
    elif endpoint.gives_file:
        response["content"] = {"*/*": {"schema": {"type": "string", "format": "binary"}}}
    elif endpoint.text or endpoint.answer is not None:
        text = {endpoint.text: {"schema": {"type": "string"}}} if endpoint.text else {}
        json = {"application/json": _ref(endpoint.answer)} if endpoint.answer is not None else {}
        response["content"] = json | text
    return response


def _problems(endpoint: Endpoint, *, login: bool) -> dict[str, Any]:
    statuses = {STATUS[code]: code for code in (*endpoint.problems, "internal")}
    if login:
        statuses |= {401: "unauthenticated", 503: "overloaded"}
    if "userId" in endpoint.query:
        statuses[403] = "forbidden"
    if endpoint.body is not None or endpoint.takes_file:
        statuses |= dict.fromkeys((408, 413, 415), "invalid_request")
    if endpoint.gives_file:
        statuses[416] = "invalid_request"
    if endpoint.resumes:
        statuses[400] = "invalid_request"
    return {str(status): _problem(status, statuses[status]) for status in sorted(statuses)}


def _problem(status: int, code: str) -> dict[str, Any]:
    response: dict[str, Any] = {"description": f"{HTTPStatus(status).phrase}: {code}"}
    if status in (429, 503):
        response["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    if status == 401:
        response["headers"] = {"WWW-Authenticate": {"schema": {"type": "string"}}}
    return response | {"content": {MEDIA_TYPE: _ref(Problem)}}


def _parameter(where: str, name: str, text: str) -> dict[str, Any]:
    return {"in": where, "name": name, "required": where == "path", "description": text, "schema": {"type": "string"}}


def _in_path(name: str) -> dict[str, Any]:
    return _parameter("path", name, f"the {name}")


def _in_query(name: str, text: str) -> dict[str, Any]:
    return _parameter("query", name, text)


def _ref(model: type[BaseModel]) -> dict[str, Any]:
    return {"schema": {"$ref": REF + model.__name__}}


def _schemas(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    bodies = {each.body for each in endpoints if each.body is not None}
    answers = {each.answer for each in endpoints if each.answer is not None} | {Problem}
    wanted = [(model, "validation") for model in (*bodies, *answers)]
    wanted.sort(key=lambda each: each[0].__name__)
    _, document = models_json_schema(wanted, by_alias=True, ref_template=REF + "{model}")  # pyright: ignore[reportArgumentType]
    _, events = msgspec.json.schema_components([ChatEvent], ref_template=REF + "{name}")
    return document["$defs"] | events
