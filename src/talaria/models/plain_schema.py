"""JSON Schema made plain, for models that take a subset: no references, no closed objects, no composition but anyOf.

The subset is that of https://ai.google.dev/api/caching#Schema. What is left out only tells the model less: arguments
are checked against the whole schema all the same.
"""

from typing import Any, cast

from talaria.models.loose_json import as_list, as_object
from talaria.ports.profile import Profile

_KEPT = frozenset(
    {
        *("type", "description", "nullable", "enum", "required", "minimum", "maximum", "minItems", "maxItems"),
        *("minLength", "maxLength", "pattern"),
    }
)
_FORMATS = frozenset({"date-time", "int32", "int64", "float", "double"})
Node = dict[str, Any]
LARGEST = 2_000
"""Nodes that a schema may have once its references are written out; beyond, an object is any object."""


def schema_for(profile: Profile, schema: Node) -> Node:
    """Return the schema as models of this profile take it."""
    return plain_schema(schema) if profile.schemas == "plain" else schema


def plain_schema(schema: Node) -> Node:
    """Return the schema in the subset. A reference within itself, and what is too large, becomes any object."""
    return _Writer(schema).node(schema, frozenset())


class _Writer:
    def __init__(self, root: Node) -> None:
        self._root = root
        self._left = LARGEST

    def node(self, value: Any, within: frozenset[str]) -> Node:
        """Write one node, `within` the references that lead to it."""
        if not isinstance(value, dict):
            return {}
        source = cast("Node", value)
        opened, within = self._open(source, within)
        if opened is None:
            return {"type": "object", **{key: source[key] for key in ("description",) if key in source}}
        written = _kept(opened)
        fields = as_object(opened.get("properties"))
        if fields:
            written["properties"] = {name: self.node(each, within) for name, each in fields.items()}
        if "required" in written:
            written["required"] = [name for name in fields if name in as_list(written["required"])]
        branches = as_list(opened.get("anyOf")) or as_list(opened.get("oneOf"))
        if isinstance(written.get("type"), list):
            types = written.pop("type")
            branches = branches or [{"type": each} for each in types]
        if branches:
            written = _either(written, [self.node(each, within) for each in branches])
        if written.get("type") == "array" and "items" not in written:
            written["items"] = self.node(_items(opened), within)
        return written

    def _open(self, source: Node, within: frozenset[str]) -> tuple[Node | None, frozenset[str]]:
        """Return the node with what its reference and its `allOf` say laid into it; None where that has no end."""
        self._left -= 1
        if self._left < 0:
            return None, within
        parts = [cast("Node", part) for part in as_list(source.get("allOf")) if isinstance(part, dict)]
        target = source.get("$ref")
        if isinstance(target, str):
            found = self._find(target)
            if found is None or target in within:
                return None, within
            within |= {target}
            parts.append(found)
        merged: Node = {}
        for part in parts:
            opened, within = self._open(part, within)
            if opened is None:
                return None, within
            merged = _laid(merged, opened)
        own = {key: value for key, value in source.items() if key not in {"allOf", "$ref"}}
        return _laid(merged, own), within

    def _find(self, target: str) -> Node | None:
        found: Any = self._root
        for step in target.removeprefix("#").split("/")[1:]:
            found = as_object(found).get(step.replace("~1", "/").replace("~0", "~"))
        return cast("Node", found) if isinstance(found, dict) and target.startswith("#") else None


def _laid(below: Node, above: Node) -> Node:
    fields = {**as_object(below.get("properties")), **as_object(above.get("properties"))}
    required = [*as_list(below.get("required")), *as_list(above.get("required"))]
    merged = {**below, **above}
    return merged | ({"properties": fields} if fields else {}) | ({"required": required} if required else {})


def _kept(source: Node) -> Node:
    """The keys that are taken, one constant being one choice. Choices are strings; others become a sentence."""
    written = {key: value for key, value in source.items() if key in _KEPT}
    form = source.get("format")
    if isinstance(form, str) and form in _FORMATS:
        written["format"] = form
    choices = [source["const"]] if "const" in source else as_list(written.pop("enum", None))
    if None in choices:
        written["nullable"] = True
    some = [each for each in choices if each is not None]
    if some and all(isinstance(each, str) for each in some):
        written["enum"] = some
    elif some:
        said = f"One of: {', '.join(map(str, some))}."
        written["description"] = f"{written['description']} {said}" if written.get("description") else said
    return written


def _items(source: Node) -> Node:
    first = as_list(source.get("prefixItems"))
    return as_object(source.get("items")) or ({"anyOf": first} if first else {"type": "string"})


def _either(written: Node, branches: list[Node]) -> Node:
    """The node with its branches; null is no branch but a mark, and one branch alone is the node itself."""
    others = [branch for branch in branches if branch.get("type") != "null"]
    if len(others) < len(branches):
        written["nullable"] = True
    if len(others) == 1:
        return {**others[0], **written}
    return {**written, "anyOf": others} if others else written
