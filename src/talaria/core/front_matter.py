"""Reads front matter, from anybody: fields in YAML between two lines of '---', then the text. Pure."""

import json
import re
from typing import Any, cast

import yaml

from talaria.core.errors import InvalidRequest

LONGEST = 16 * 1024
"""Characters of the fields."""
DEEPEST = 8
_FENCED = re.compile(r"\A\s*?^---[ \t]*\n(.*?)^---[ \t]*$\n?(.*)\Z", re.DOTALL | re.MULTILINE)
_BEGUN = re.compile(r"\A\s*?^---[ \t]*$", re.MULTILINE)
_PLAIN = re.compile(r"^([A-Za-z][\w-]*):[ \t]+([^\s\"'\[{>|&*!#%@`].*?)[ \t]*$", re.MULTILINE)


def read_front_matter(data: bytes) -> tuple[dict[str, Any], str]:
    """Return the fields and the text after them. Values are texts, lists and mappings of texts, as they are written.

    Raises:
        InvalidRequest: there is none, or something is wrong with it; the message says what.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"the file is not UTF-8 (byte {error.start})") from None
    text = text.replace("\r\n", "\n")
    found = _FENCED.match(text)
    if found is None:
        open_ = "the front matter has no end: a line '---'" if _BEGUN.match(text) else "there is no front matter"
        raise InvalidRequest(f"{open_}; the file begins with '---', fields in YAML, '---'")
    if len(found[1]) > LONGEST:
        raise InvalidRequest(f"the front matter has {len(found[1])} characters; {LONGEST} are the limit")
    return _fields(found[1]), found[2]


def _fields(text: str) -> dict[str, Any]:
    try:
        return _read(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        # Many files in the wild have a value like `Use for reviews: style`, which YAML takes for a mapping.
        mended = _PLAIN.sub(lambda each: f"{each[1]}: {json.dumps(each[2], ensure_ascii=False)}", text)
        try:
            return _read(mended)
        except (yaml.YAMLError, RecursionError, ValueError):
            raise InvalidRequest(f"the front matter is no YAML: {' '.join(str(error).split())[:200]}") from None


def _read(text: str) -> dict[str, Any]:
    node = yaml.compose(text, Loader=_Texts)
    if not isinstance(node, yaml.MappingNode):
        raise InvalidRequest("the front matter is no list of fields, each `name: value`")
    value: dict[str, Any] = _value(node)
    return value


class _Texts(yaml.BaseLoader):
    """Without aliases, anchors and tags: none are needed, and all are ways to do harm."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = cast("yaml.Event", self.peek_event())  # pyright: ignore[reportUnknownMemberType]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) or getattr(event, "tag", None):
            raise InvalidRequest("the front matter uses YAML's anchors, aliases or tags; write plain values")
        self.depth += 1
        if self.depth > DEEPEST:
            raise InvalidRequest(f"the front matter is more than {DEEPEST} lists and mappings deep")
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


def _value(node: yaml.Node) -> Any:
    match node:
        case yaml.ScalarNode():
            return str(node.value)
        case yaml.SequenceNode():
            return [_value(each) for each in node.value]
        case yaml.MappingNode():
            out: dict[str, Any] = {}
            for key, value in node.value:
                name = str(key.value)
                if name in out:
                    raise InvalidRequest(f"the front matter has '{name[:80]}' twice")
                out[name] = _value(value)
            return out
        case _:
            raise InvalidRequest("the front matter is no YAML that can be read here")
