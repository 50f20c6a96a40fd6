"""Schemas of answers as the provider gets them: strict where it can be, and only where the model takes any."""

import json
from typing import Any

import pytest

from talaria.core.messages import Text, UserMessage
from talaria.models.openai.dialect import OpenAiDialect
from talaria.models.openai.structured import fits_strict, response_format
from talaria.ports.model import Connection, ModelRequest, Prompt
from talaria.ports.profile import Profile

CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


def body(**profile: Any) -> dict[str, Any]:
    request = ModelRequest("gpt-x", Prompt("", (), [UserMessage((Text("go"),))]), output_schema=CLOSED)
    connection = Connection("https://api.example.com/v1", "gpt-x", "test", profile=Profile(**profile))
    return json.loads(OpenAiDialect().request(request, connection).body)


def test_the_schema_of_the_answer_is_sent_where_the_model_takes_one() -> None:
    named = {"name": "answer", "schema": CLOSED, "strict": True}
    assert body()["response_format"] == {"type": "json_schema", "json_schema": named}


def closed(inner: Any) -> dict[str, Any]:
    return CLOSED | {"properties": {"n": inner}}


SCHEMAS: list[tuple[Any, bool]] = [
    (CLOSED, True),
    (closed(CLOSED), True),
    (closed({"type": "array", "items": CLOSED}), True),
    (closed({"anyOf": [{"type": "null"}, CLOSED]}), True),
    (closed({"$ref": "#/$defs/n"}) | {"$defs": {"n": CLOSED}}, True),
    (CLOSED | {"required": []}, False),
    ({key: CLOSED[key] for key in CLOSED if key != "additionalProperties"}, False),
    (closed({"type": "object"}), False),
    (closed({"type": "array", "items": {"type": "object", "properties": {}}}), False),
    (closed({"type": "string", "minLength": 1}), False),
    (closed({"oneOf": [{"type": "null"}]}), False),
    (closed({}), False),
    (closed(True), False),
]


@pytest.mark.parametrize(("schema", "strict"), SCHEMAS)
def test_strict_mode_is_asked_for_only_where_the_schema_is_in_its_subset(schema: dict[str, Any], strict: bool) -> None:
    assert fits_strict(schema) is strict
    assert ("strict" in response_format(schema)["json_schema"]) is strict
