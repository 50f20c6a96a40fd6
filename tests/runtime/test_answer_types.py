"""What answers may be: schemas of any kind, and the values of an agent's own type."""

from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from talaria import Agent, Principal, Runtime
from talaria.core.errors import ConfigurationError, InvalidRequest, OutputInvalid
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.answers import GOOD, NATIVE, TOTAL, assert_every_way_shows
from tests.runtime.world import (
    assert_valid,
    bounded,
    end_of,
    world,
)

# Schemas


@pytest.mark.parametrize(
    ("schema", "said", "answer"),
    [
        ({"type": "array", "items": {"type": "integer"}}, "[1, 2]", "[1, 2]"),
        ({"type": "array", "items": {"type": "integer"}}, "```json\n[1, 2]\n```", "[1,2]"),
        ({"type": "array", "items": {"type": "integer"}}, '{"answer": ["1"]}', "[1]"),
        ({"enum": ["red", "blue"]}, '"red"', '"red"'),
        ({}, '{"any": ["thing"]}', '{"any": ["thing"]}'),
        ({"type": "integer"}, "42", "42"),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "null"}}}, "null", "null"),
    ],
)
async def test_answers_need_not_be_objects(schema: dict[str, Any], said: str, answer: str) -> None:
    async with world(ScriptedModel(Say(said)), **NATIVE) as here:
        run_id = await here.send(output_schema=schema)
        assert (await here.events(run_id))[-1].data == answer
        await assert_every_way_shows(here, run_id, answer)


async def test_what_is_no_object_is_given_inside_one() -> None:
    model = ScriptedModel(Call("final_answer", {"answer": ["1", 2]}))
    async with world(model, **NATIVE) as here:
        events = await here.ask(output_schema={"type": "array", "items": {"type": "integer"}})
        assert events[-1].data == "[1,2]"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "obj"},
        {"type": "object", "properties": []},
        {"$ref": "#/$defs/none"},
        {"$ref": "https://example.com/schema.json"},
        {"type": "array", "items": {"$ref": "#"}},
        {"description": "x" * 70_000},
    ],
)
async def test_a_schema_that_is_none_is_refused(schema: dict[str, Any]) -> None:
    async with world() as here:
        with pytest.raises(InvalidRequest, match="outputSchema") as caught:
            await here.send(output_schema=schema)
        assert caught.value.errors[0]["field"] == "outputSchema"


async def test_nothing_fits_a_schema_that_allows_nothing() -> None:
    model = ScriptedModel(*(Say("{}") for _ in range(3)))
    async with world(model, **NATIVE) as here:
        assert end_of(await here.ask(output_schema={"type": "object", "not": {}})) == ("error", "output_invalid")


# In a program


class Line(BaseModel):
    name: str
    on: date

    @field_validator("name")
    @classmethod
    def _loud(cls, name: str) -> str:
        if not name.isupper():
            raise ValueError("write it in capitals")
        return name


@dataclass
class Pair:
    left: int
    right: int = 2


class Colour(Enum):
    RED = "r"
    BLUE = "b"


async def output(output_type: Any, *steps: Say, **fields: Any) -> Any:
    agent = Agent("typed", output_type=output_type)
    model = ScriptedModel(*steps)
    async with Runtime({"store": {"url": "memory://"}}, model=model, clock=FakeClock()) as runtime:
        result = await bounded(runtime.run(agent, "Go", **fields))
    assert_valid(result.messages)
    model.check()
    return result.output


@pytest.mark.parametrize(
    ("output_type", "said", "value"),
    [
        (Line, '{"name": "A", "on": "2024-01-31"}', Line(name="A", on=date(2024, 1, 31))),
        (Pair, '{"left": "1"}', Pair(1)),
        (list[int], "[1, 2]", [1, 2]),
        (list[Pair], '[{"left": 1}]', [Pair(1)]),
        (Colour, '"RED"', Colour.RED),
        (int | None, "null", None),
        (dict[str, date], '{"a": "2024-01-31"}', {"a": date(2024, 1, 31)}),
    ],
)
async def test_an_agents_answers_are_values_of_its_type(output_type: Any, said: str, value: Any) -> None:
    assert await output(output_type, Say(said)) == value


async def test_what_only_the_type_knows_is_repaired_too() -> None:
    answer = await output(Line, Say('{"name": "a", "on": "2024-01-31"}'), Say('{"name": "A", "on": "2024-01-31"}'))
    assert answer.name == "A"


async def test_the_requests_schema_goes_before_the_agents_type() -> None:
    assert await output(Line, Say(GOOD), output_schema=TOTAL) == {"total": 7}


async def test_without_a_valid_answer_there_is_none() -> None:
    assert await output(Line, Say("{", finish="length")) is None
    with pytest.raises(OutputInvalid):
        await output(Line, Say("no"), Say("no"), Say("no"))


async def test_a_type_without_a_schema_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="output_type"):
        await output(ScriptedModel)


async def test_an_answer_is_there_for_who_asks_again_with_the_same_key() -> None:
    agent, model = Agent("typed", output_type=Pair), ScriptedModel(Say('{"left": 1}'))
    async with Runtime({"store": {"url": "memory://"}}, model=model, clock=FakeClock()) as runtime:
        fields: dict[str, Any] = {"session": "s", "idempotency_key": "k", "principal": Principal()}
        first = await bounded(runtime.run(agent, "Go", **fields))
        again = await bounded(runtime.run(agent, "Go", **fields))
    assert first.output == again.output == Pair(1)
    assert (first.text, again.text) == ('{"left": 1}', '{"left": 1}')
