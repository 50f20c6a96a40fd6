"""JSON as providers send it: damaged UTF-8 is read all the same, and what is not of the wanted type is nothing."""

from typing import Any, cast

from talaria.core.text import loads_raw


def parse(payload: bytes) -> Any:
    """Return the JSON value of a payload that strict parsing refuses.

    Raises:
        ValueError: it is no JSON.
    """
    try:
        return loads_raw(payload)
    except UnicodeError:
        return loads_raw(payload.decode("utf-8", "replace"))


def parse_object(payload: bytes) -> dict[str, Any]:
    """Return the JSON object of a payload that strict parsing refuses; of a list, its first.

    Raises:
        ValueError: there is none.
    """
    value = parse(payload)
    if isinstance(value, list) and value:
        value = cast("list[Any]", value)[0]
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    return cast("dict[str, Any]", value)


def as_object(value: Any) -> dict[str, Any]:
    """Return the value if it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return the value if it is a JSON array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the JSON objects in a value that should be an array of them."""
    return [cast("dict[str, Any]", one) for one in as_list(value) if isinstance(one, dict)]


def as_string(value: Any) -> str:
    """Return the value if it is text, else none."""
    return value if isinstance(value, str) else ""
