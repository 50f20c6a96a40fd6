"""Dotted paths into JSON values: `data.choices[0].text`."""

import re
from collections.abc import Callable
from typing import Any, cast

Getter = Callable[[Any], Any]
_STEP = re.compile(r"([^.\[\]]+)((?:\[\d+\])*)")


def getter(path: str) -> Getter:
    """Return a function that returns what stands at a path in a value, or None; "" is the value itself.

    Raises:
        ValueError: it is no path.
    """
    get: Getter = _itself
    for step in _steps(path):
        get = _member(get, step) if isinstance(step, str) else _place(get, step)
    return get


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = []
    for part in path.split(".") if path else ():
        found = _STEP.fullmatch(part)
        if found is None:
            raise ValueError("no path; write names with dots between them, and [0] for a place in a list")
        steps.append(found[1])
        steps += [int(index) for index in re.findall(r"\d+", found[2])]
    return steps


def _itself(value: Any) -> Any:
    return value


def _member(get: Getter, name: str) -> Getter:
    def first(value: Any) -> Any:
        return cast("dict[str, Any]", value).get(name) if type(value) is dict else None

    def later(value: Any) -> Any:
        value = get(value)
        return cast("dict[str, Any]", value).get(name) if type(value) is dict else None

    return first if get is _itself else later


def _place(get: Getter, index: int) -> Getter:
    def place(value: Any) -> Any:
        value = get(value)
        is_there = type(value) is list and index < len(cast("list[Any]", value))
        return cast("list[Any]", value)[index] if is_there else None

    return place
