"""Request bodies: bytes of JSON in, a checked model out, or a refusal that names the fields."""

import asyncio
import json
import math
from typing import Any, NoReturn, TypeVar, cast

import msgspec
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request

from talaria.core.errors import InvalidRequest
from talaria.core.text import valid_json
from talaria.server.problems import Refused

MAX_BODY = 8 * 1024 * 1024
PATIENCE = 30.0
"""Seconds that a client has to send a body."""
MAX_DEPTH = 64
MAX_ERRORS = 20

Model = TypeVar("Model", bound=BaseModel)


async def read_body(request: Request, model: type[Model]) -> Model:
    """Read, decode and check a JSON body.

    Raises:
        Refused: it is too large, too slow, or not declared as JSON.
        InvalidRequest: it is no JSON object, or fields are wrong; `errors` name them.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise Refused(415, "send JSON, with the header 'Content-Type: application/json'")
    value = decode(await _read(request))
    if not isinstance(value, dict):
        raise InvalidRequest("the body must be a JSON object")
    try:
        return model.model_validate(value, by_alias=True, by_name=False)
    except ValidationError as error:
        raise _invalid(error, cast("dict[str, Any]", value)) from None


async def _read(request: Request) -> bytes:
    length = request.headers.get("content-length", "0")
    if length.isdigit() and int(length[:18]) > MAX_BODY:
        _too_large()
    body = bytearray()
    try:
        async with asyncio.timeout(PATIENCE):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    _too_large()
    except TimeoutError:
        raise Refused(408, f"the body was not complete within {PATIENCE:g} seconds", {"Connection": "close"}) from None
    except ClientDisconnect:
        raise InvalidRequest("the connection broke before the body was complete") from None
    return bytes(body)


def _too_large() -> NoReturn:
    raise Refused(413, f"the body is larger than {MAX_BODY // 1024 // 1024} MiB", {"Connection": "close"})


def decode(data: bytes) -> Any:
    """Decode JSON whose text is valid: what no store can hold (U+0000, lone surrogates) becomes U+FFFD.

    Raises:
        InvalidRequest: it is not JSON (NaN and infinities are not), or is nested too deeply.
    """
    try:
        value = _decode(data)
        if data.count(b"[") + data.count(b"{") > MAX_DEPTH:
            _check_depth(value)
    except RecursionError:
        raise InvalidRequest("the body is nested too deeply") from None
    except ValueError as error:
        raise InvalidRequest(f"the body is not valid JSON: {error}") from None
    return value


def _decode(data: bytes) -> Any:
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError):
        return valid_json(json.loads(data, parse_constant=_not_a_number, parse_float=_finite))
    return valid_json(value) if b"\\u0000" in data else value


def _not_a_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _not_a_number(text[:20])


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return
    raise InvalidRequest(f"the body is nested more than {MAX_DEPTH} levels deep")


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(cast("dict[str, Any]", value).values())
    return cast("list[Any]", value) if isinstance(value, list) else []


# What pydantic says, in the names of the wire


def _invalid(error: ValidationError, body: dict[str, Any]) -> InvalidRequest:
    messages: dict[str, list[str]] = {}
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        field = _field(item["loc"], body)
        messages.setdefault(field, []).append(_sentence(item["msg"]))
    errors = tuple({"field": field, "message": " or ".join(said)} for field, said in messages.items())[:MAX_ERRORS]
    detail = "; ".join(f"{each['field']}: {each['message']}" if each["field"] else each["message"] for each in errors)
    return InvalidRequest(detail, errors)


def _field(path: tuple[int | str, ...], body: Any) -> str:
    """The path of a field, as in `history[2].role`; names of a union's branches, which no client sent, are left out."""
    field, value = "", body
    for at, part in enumerate(path, 1):
        if isinstance(value, dict):
            if part not in value and at < len(path):
                continue  # the name of a union's branch
            field += f".{part}"
            value = cast("dict[Any, Any]", value).get(part)
        elif isinstance(value, list) and isinstance(part, int):
            field += f"[{part}]"
            value = cast("list[Any]", value)[part]
    return field.lstrip(".")


def _sentence(message: str) -> str:
    message = message.removeprefix("Value error, ").replace("Extra inputs are not permitted", "There is no such field")
    return message[:1].lower() + message[1:]
