"""Final answers that have a schema: the tool that stands for one, and reading what a model gave as one."""

import json
from contextlib import suppress
from typing import Any, Final, NamedTuple, cast

import msgspec

from talaria.core.errors import InvalidRequest
from talaria.tools.arguments import bind, read_arguments
from talaria.tools.binding import Binding
from talaria.tools.declaration import Tool
from talaria.tools.errors import ArgumentsInvalid, ToolInvalid
from talaria.tools.json_text import read_container

ANSWER_TOOL = "final_answer"
WRAPPED = "answer"
MAX_SCHEMA = 64 * 1024
"""Bytes that the schema of an answer may have, as JSON."""
LONGEST_SHOWN = 10_000
DESCRIPTION: Final = (
    "Give your final answer to the user. Call this once, alone, when all other work is done: it ends your turn."
)


class FinalAnswer(NamedTuple):
    """An answer that fits. `text` is JSON: what the model wrote, unless `repairs` says what was mended."""

    text: str
    repairs: tuple[str, ...] = ()


def check_schema(schema: dict[str, Any]) -> None:
    """Check the schema that a request wants its answer to have.

    Raises:
        InvalidRequest: it is no valid JSON Schema, or too large.
    """
    try:
        size = len(msgspec.json.encode(schema))
        if size > MAX_SCHEMA:
            raise _refused(f"{size} bytes are more than the {MAX_SCHEMA} that a schema may have")
        if is_wrapped(schema) and '"$ref":"#"' in _compact(schema):
            raise _refused('only a schema of type object may contain itself as "#"; name it in $defs')
        _ = answer_tool(schema).coercer
    except ToolInvalid as error:
        why = error.message.partition("JSON Schema: ")[2] or error.message
        raise _refused(why.partition("\n")[0]) from error
    except RecursionError as error:
        raise _refused("it is nested too deeply") from error
    except (TypeError, ValueError) as error:  # a program's own values, or half a character
        raise _refused(f"it is no JSON: {error}") from error


def _refused(why: str) -> InvalidRequest:
    message = f"not a schema for an answer: {why}"
    return InvalidRequest(f"outputSchema: {message}", ({"field": "outputSchema", "message": message},))


def is_wrapped(schema: dict[str, Any]) -> bool:
    """Whether answers are no objects by their schema; a tool's arguments must be, so there they are inside one."""
    return schema.get("type") != "object"


def answer_tool(schema: dict[str, Any], name: str = ANSWER_TOOL, binding: Binding | None = None) -> Tool[..., Any]:
    """Return the tool whose arguments are an answer; no chain runs it.

    Raises:
        ToolInvalid: it is no JSON Schema.
    """
    return Tool(name, DESCRIPTION, wrap(schema), _never, binding=binding)


def wrap(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema, or that of an object around it; definitions stay where references look for them."""
    if not is_wrapped(schema):
        return schema
    kept = {key: schema[key] for key in ("$defs", "definitions", "$schema") if key in schema}
    inner = {key: value for key, value in schema.items() if key not in kept}
    fields = {"type": "object", "properties": {WRAPPED: inner}, "required": [WRAPPED]}
    return fields | {"additionalProperties": False} | kept


def _never() -> None:
    raise AssertionError("an answer is no call")


def read_call(tool: Tool[..., Any], schema: dict[str, Any], arguments: str) -> FinalAnswer:
    """Read an answer that was given as a call's arguments.

    Raises:
        ArgumentsInvalid: it does not fit; the message is for the model.
    """
    read = read_arguments(tool, arguments)
    bind(tool, read.values)
    if is_wrapped(schema):
        return FinalAnswer(_compact(read.values[WRAPPED]), read.repairs)
    return _answer(read.values, arguments, read.repairs)


def read_text(tool: Tool[..., Any], schema: dict[str, Any], text: str) -> FinalAnswer:
    """Read an answer that was given as text, which may be fenced; the same repairs as in arguments are made.

    Raises:
        ArgumentsInvalid: it does not fit.
    """
    if not text.strip():
        raise ArgumentsInvalid("it is empty")
    if not is_wrapped(schema):
        return read_call(tool, schema, text)
    value = _value(text)
    if isinstance(value, dict) and set(cast("dict[str, Any]", value)) == {WRAPPED}:
        with suppress(ArgumentsInvalid):
            return read_call(tool, schema, text)  # wrapped, as the tool wants it
    read = read_arguments(tool, json.dumps({WRAPPED: value}))
    bind(tool, read.values)
    return _answer(read.values[WRAPPED], text, read.repairs)


def _value(text: str) -> Any:
    with suppress(ValueError, RecursionError):
        return msgspec.json.decode(text)
    with suppress(RecursionError):
        value = read_container(text.strip().removeprefix("```json").removeprefix("```").removesuffix("```"))
        if value is not None:
            return value
    raise ArgumentsInvalid("it is no JSON; write one JSON value and nothing else")


def _answer(value: Any, text: str, repairs: tuple[str, ...]) -> FinalAnswer:
    """The text stands if it is strict JSON and says just this value."""
    with suppress(ValueError, RecursionError):
        if not repairs and msgspec.json.decode(text) == value:
            return FinalAnswer(text)
    return FinalAnswer(_compact(value), repairs or ("unusual JSON",))


def problem(error: ArgumentsInvalid) -> str:
    """What is wrong with an answer first of all, for a person."""
    first = next((line.removeprefix("- ") for line in error.message.splitlines()[1:]), error.message)
    return first.partition(" This came: ")[0][:200]


def feedback(error: ArgumentsInvalid, schema: dict[str, Any], tool: str) -> str:
    """What a model is told of an answer that it gave as text and that does not fit."""
    lines = error.message.splitlines()[1:] or [f"- {error.message}"]
    how = f"call {tool} with it, alone" if tool else "answer again, with nothing but the JSON"
    shown = "" if tool else f"\nThe JSON Schema: {_compact(schema)[:LONGEST_SHOWN]}"
    head = "[Automatic check] Your answer was not accepted:"
    return "\n".join([head, *lines, f"Correct it and {how}."]) + shown


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
