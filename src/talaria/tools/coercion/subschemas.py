"""The subschemas of one schema: found by JSON pointer, and what is valid against each."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import jsonschema_rs

from talaria.tools.coercion.moments import CHECKS

_BASE = "urn:talaria:arguments"
_OTHERS = (
    *("duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6", "uuid", "regex"),
    *("uri", "uri-reference", "uri-template", "iri", "iri-reference", "json-pointer", "relative-json-pointer"),
)


def _anything(text: str) -> bool:
    del text
    return True


FORMATS: dict[str, Callable[[str], bool]] = {**dict.fromkeys(_OTHERS, _anything), **CHECKS}
"""Of all formats only those of dates and times are checked: servers mean different things by the others."""
_BROKEN = (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError)


def make_validator(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    """Return what checks values against a whole schema.

    Raises:
        ValidationError, ReferencingError, ValueError: it is no schema.
    """
    return jsonschema_rs.validator_for(schema, validate_formats=True, formats=FORMATS, offline=True)


class Subschemas:
    """Looks into a schema; validators are made when they are first needed."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._registry: jsonschema_rs.Registry | None = None
        self._checks: dict[str, Callable[[Any], bool]] = {}

    def at(self, pointer: str) -> Any:
        """Return the subschema at a JSON pointer, or None where there is nothing."""
        found: Any = self._schema
        for part in pointer.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            try:
                found = found[int(key) if isinstance(found, list) else key]
            except (LookupError, TypeError, ValueError):
                return None
        return found

    def fits(self, pointer: str, value: Any) -> bool:
        """Whether a value is valid against the subschema; yes where that cannot be told, so that nothing is changed."""
        check = self._checks.get(pointer)
        if check is None:
            self._checks[pointer] = check = self._check(pointer)
        return check(value)

    def _check(self, pointer: str) -> Callable[[Any], bool]:
        dialect = {key: self._schema[key] for key in ("$schema",) if key in self._schema}
        try:
            if self._registry is None:
                self._registry = jsonschema_rs.Registry([(_BASE, self._schema)])
            return jsonschema_rs.validator_for(
                {**dialect, "$ref": f"{_BASE}#{quote(pointer, safe='/~')}"},
                validate_formats=True,
                formats=FORMATS,
                registry=self._registry,
                offline=True,
            ).is_valid
        except _BROKEN:
            return _anything
