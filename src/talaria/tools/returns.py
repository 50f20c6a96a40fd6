"""Checks at declaration that what a tool says it returns can be made into text."""

from collections.abc import AsyncIterator, Iterator
from typing import Any, get_origin

import msgspec
from pydantic import TypeAdapter
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError

from talaria.tools.errors import ToolInvalid
from talaria.tools.signature import MISSING

_REFUSALS = (PydanticUserError, PydanticUndefinedAnnotation, TypeError, ValueError, NameError)


_PLAIN: tuple[Any, ...] = (MISSING, Any, object, None, type(None), str, int, float, bool)
"""What needs no schema to be known as JSON."""


def check_returns(annotation: Any, tool: str) -> None:
    """Accept a return annotation, or none.

    Raises:
        ToolInvalid: what it names has no JSON form, or is bytes or a generator.
    """
    if annotation in _PLAIN:
        return
    origin = get_origin(annotation) or annotation
    if isinstance(origin, type) and issubclass(origin, Iterator | AsyncIterator):
        raise ToolInvalid(f"{tool} returns {annotation!r}; return a list instead of a generator")
    schema = _schema(annotation, tool)
    if _has_bytes(schema):
        raise ToolInvalid(f"{tool} returns bytes, {annotation!r}; return text, or write a file and return its path")


def _schema(annotation: Any, tool: str) -> dict[str, Any]:
    try:
        return TypeAdapter(annotation).json_schema(mode="serialization")
    except _REFUSALS:
        pass
    try:
        return msgspec.json.schema(annotation)
    except (TypeError, RuntimeError) as error:
        raise ToolInvalid(
            f"{tool} returns {annotation!r}, which has no JSON form; return text, JSON types, a dataclass or a model"
        ) from error


def _has_bytes(node: Any) -> bool:
    if isinstance(node, list):
        return any(_has_bytes(item) for item in node)  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(node, dict):
        return False
    if node.get("format") == "binary" or node.get("contentEncoding") == "base64":  # pyright: ignore[reportUnknownMemberType]
        return True
    return any(_has_bytes(value) for value in node.values())  # pyright: ignore[reportUnknownVariableType]
