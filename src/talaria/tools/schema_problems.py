"""Says what a JSON Schema finds wrong with a value, where, and what would be right."""

import json
from collections.abc import Iterator
from typing import Any, cast

import jsonschema_rs

from talaria.tools.nearest import hint, listed
from talaria.tools.problems import EXPECTED, Problem, dotted, shortened

DEEP = 10
TOO_BRANCHED = Problem("", "something deep inside does not fit the schema; look at the type of each value")
Kind = jsonschema_rs.ValidationErrorKind
Error = jsonschema_rs.ValidationError


def from_schema(validator: jsonschema_rs.Validator, schema: dict[str, Any], arguments: Any) -> Iterator[Problem]:
    """Yield what a schema finds wrong."""
    for error in validator.iter_errors(arguments):
        yield from _explain(schema, error)


def too_branched(schema: dict[str, Any], arguments: Any) -> bool:
    """Whether naming the problems could take for ever: each level of a union that contains itself doubles the work."""
    text = json.dumps(schema)
    return '"$ref"' in text and ('"anyOf"' in text or '"oneOf"' in text) and _is_deeper(arguments, DEEP)


def _is_deeper(value: Any, levels: int) -> bool:
    if isinstance(value, dict):
        value = list(cast("dict[str, Any]", value).values())
    return levels == 0 or (isinstance(value, list) and any(_is_deeper(each, levels - 1) for each in value))  # pyright: ignore[reportUnknownVariableType]


def _explain(schema: dict[str, Any], error: Error) -> Iterator[Problem]:
    at = error.instance_path
    match error.kind:
        case Kind.Required(missing):
            yield Problem(dotted((*at, missing)), "is missing")
        case Kind.AdditionalProperties(unexpected):
            known = list(_subschema(schema, error.schema_path[:-1]).get("properties", {}))
            there = f"there are {listed(known)}" if known else "there are none"
            for name in unexpected:
                yield Problem(dotted((*at, name)), f"there is no such field; {there}{hint(name, known)}")
        case Kind.Type(types):
            yield Problem(dotted(at), f"expected {' or '.join(types)}, got {shortened(error.instance)}")
        case Kind.Enum(options):
            yield Problem(dotted(at), _choice(error.instance, options))
        case Kind.Constant(expected):
            yield Problem(dotted(at), f"expected {shortened(expected)}, got {shortened(error.instance)}")
        case Kind.FalseSchema():
            yield Problem(dotted(at), f"nothing is allowed here, got {shortened(error.instance)}; leave it out")
        case Kind.Format(form) if form in EXPECTED:
            yield Problem(dotted(at), f"expected a {form} such as {EXPECTED[form]}, got {shortened(error.instance)}")
        case Kind.AnyOf(branches) | Kind.OneOfNotValid(branches):
            yield from _union(schema, error, branches)
        case _:
            yield Problem(dotted(at), error.message if len(error.message) < 200 else error.message[:199] + "…")


def _choice(value: Any, options: list[Any]) -> str:
    texts = [each for each in options if isinstance(each, str)]
    nearby = hint(value, texts) if isinstance(value, str) else ""
    return f"expected one of {', '.join(map(shortened, options[:20]))}, got {shortened(value)}{nearby}"


def _union(schema: dict[str, Any], error: Error, branches: list[list[Error]]) -> Iterator[Problem]:
    """Explain the branch that the value was meant for: the one whose kind of value it is."""
    meant = [branch for branch in branches if not any(_is_other_kind(each, error) for each in branch)]
    if meant:
        for each in min(meant, key=len):
            yield from _explain(schema, each)
        return
    types = [each.kind.types for branch in branches for each in branch if isinstance(each.kind, Kind.Type)]
    expected = " or ".join(dict.fromkeys(name for names in types for name in names)) or "something else"
    yield Problem(dotted(error.instance_path), f"expected {expected}, got {shortened(error.instance)}")


def _is_other_kind(each: Error, error: Error) -> bool:
    return isinstance(each.kind, Kind.Type | Kind.Constant) and each.instance_path == error.instance_path


def _subschema(schema: Any, path: list[str | int]) -> dict[str, Any]:
    try:
        for part in path:
            schema = schema[part]
    except (KeyError, IndexError, TypeError):  # a path through an anchor, which is no place in the document
        return {}
    return schema
