"""The JSON Schema and the descriptions that a signature and a docstring give."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, TypedDict
from uuid import UUID

import msgspec
import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel, Field

from talaria.tools.arguments import bind, parse_arguments
from talaria.tools.context import ToolContext
from talaria.tools.declaration import tool
from talaria.tools.errors import ToolInvalid


class Status(Enum):
    OPEN = "open"
    CLOSED = "closed"


class Item(BaseModel):
    sku: str = Field(description="the article", title="SKU")
    title: str = ""


@dataclass
class Order:
    id: int
    items: list[Item]


class Tree(BaseModel):
    children: list["Tree"] = []


class Handle:
    """Something that JSON cannot say."""


class Row(msgspec.Struct):
    id: int


def refused(fn: Callable[..., Any]) -> str:
    with pytest.raises(ToolInvalid) as caught:
        tool(fn)
    return caught.value.message


def properties(fn: Callable[..., Any]) -> dict[str, Any]:
    return tool(fn).parameters["properties"]


def test_types_of_parameters_become_schemas_without_titles() -> None:
    def every(text: str, count: int, ratio: float, on: date, at: datetime, amount: Decimal) -> None:
        """Take everything."""

    assert tool(every).parameters == snapshot(
        {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "count": {"type": "integer"},
                "ratio": {"type": "number"},
                "on": {"format": "date", "type": "string"},
                "at": {"format": "date-time", "type": "string"},
                "amount": {"anyOf": [{"type": "number"}, {"type": "string"}]},
            },
            "required": ["text", "count", "ratio", "on", "at", "amount"],
            "additionalProperties": False,
        }
    )


def test_collections_and_ids_become_schemas() -> None:
    def act(key: UUID, tags: set[str], pair: tuple[int, str], sizes: dict[str, float]) -> None:
        """Act."""

    assert properties(act) == snapshot(
        {
            "key": {"format": "uuid", "type": "string"},
            "tags": {"items": {"type": "string"}, "type": "array", "uniqueItems": True},
            "pair": {
                "maxItems": 2,
                "minItems": 2,
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "type": "array",
            },
            "sizes": {"additionalProperties": {"type": "number"}, "type": "object"},
        }
    )


def test_nested_types_are_written_where_they_are_used() -> None:
    def file(order: Order, status: Status, kind: Literal["a", "b"] = "a") -> None:
        """File an order."""

    assert tool(file).parameters == snapshot(
        {
            "type": "object",
            "properties": {
                "order": {
                    "properties": {
                        "id": {"type": "integer"},
                        "items": {
                            "items": {
                                "properties": {
                                    "sku": {"description": "the article", "type": "string"},
                                    "title": {"default": "", "type": "string"},
                                },
                                "required": ["sku"],
                                "type": "object",
                            },
                            "type": "array",
                        },
                    },
                    "required": ["id", "items"],
                    "type": "object",
                },
                "status": {"enum": ["open", "closed"], "type": "string"},
                "kind": {"enum": ["a", "b"], "type": "string", "default": "a"},
            },
            "required": ["order", "status"],
            "additionalProperties": False,
        }
    )


def test_a_type_that_contains_itself_stays_a_definition() -> None:
    def plant(tree: Tree) -> None:
        """Plant a tree."""

    assert tool(plant).parameters == snapshot(
        {
            "type": "object",
            "properties": {"tree": {"$ref": "#/$defs/Tree"}},
            "required": ["tree"],
            "$defs": {
                "Tree": {
                    "properties": {"children": {"default": [], "items": {"$ref": "#/$defs/Tree"}, "type": "array"}},
                    "type": "object",
                }
            },
            "additionalProperties": False,
        }
    )


def test_no_parameters_are_an_empty_object() -> None:
    def now() -> datetime:
        """Tell the time."""
        return datetime.min  # noqa: DTZ901 - only the annotation matters

    assert tool(now).parameters == {"type": "object", "properties": {}, "additionalProperties": False}


def test_the_context_never_shows_however_it_is_annotated() -> None:
    def plain(a: int, ctx: ToolContext) -> None:
        """Act."""

    def quoted(a: int, context: "ToolContext") -> None:
        """Act."""

    def optional(a: int, it: ToolContext | None = None) -> None:
        """Act."""

    def dotted(a: int, it: int) -> None:
        """Act."""

    dotted.__annotations__["it"] = "elsewhere.ToolContext"
    cases: list[tuple[Callable[..., None], str]] = [
        (plain, "ctx"),
        (quoted, "context"),
        (optional, "it"),
        (dotted, "it"),
    ]
    for fn, name in cases:
        declared = tool(fn)
        assert list(declared.parameters["properties"]) == ["a"]
        assert declared.context_parameter == name


def test_annotations_that_are_strings_are_read() -> None:
    def act(items: "list[Item]", on: "date | None" = None) -> "str":
        """Act."""
        return ""

    assert properties(act)["on"] == {"anyOf": [{"format": "date", "type": "string"}, {"type": "null"}]}


def test_google_style_describes_parameters() -> None:
    def refund(order: str, amount: int, ctx: ToolContext) -> None:
        """Refund part of
        an order.

        More for people.

        Args:
            order: which order,
                by its number
            amount: in cents
            ctx: the context

        Returns:
            nothing
        """

    declared = tool(refund)
    assert declared.description == "Refund part of an order."
    assert declared.parameters["properties"] == {
        "order": {"description": "which order, by its number", "type": "string"},
        "amount": {"description": "in cents", "type": "integer"},
    }


def test_numpy_style_describes_parameters() -> None:
    def refund(order: str, x: int, y: int) -> None:
        """Refund part of an order.

        Parameters
        ----------
        order : str
            which order
        x, y : int
            where
        """

    assert {name: each["description"] for name, each in properties(refund).items()} == {
        "order": "which order",
        "x": "where",
        "y": "where",
    }


def test_a_description_in_the_annotation_goes_before_the_docstring() -> None:
    def act(
        a: Annotated[int, Field(description="from the annotation", ge=1)], b: int = Field(2, description="b")
    ) -> None:
        """Act.

        Args:
            a: from the docstring
        """

    assert properties(act) == snapshot(
        {
            "a": {"description": "from the annotation", "minimum": 1, "type": "integer"},
            "b": {"default": 2, "description": "b", "type": "integer"},
        }
    )


def test_defaults_are_shown_where_they_have_a_json_form() -> None:
    def act(on: date = date(2024, 2, 29), status: Status = Status.OPEN, none: int | None = None) -> None:
        """Act."""

    shown = properties(act)
    assert (shown["on"]["default"], shown["status"]["default"]) == ("2024-02-29", "open")
    assert "default" not in shown["none"]
    assert "required" not in tool(act).parameters


def test_a_default_without_json_form_is_not_shown_and_still_arrives() -> None:
    unset = object()

    def act(value: Any = unset) -> None:
        """Act."""

    declared = tool(act)
    assert declared.parameters["properties"] == {"value": {}}
    assert bind(declared, {}) == {"value": unset}


def test_a_property_named_title_is_not_a_title() -> None:
    def name(title: str, properties: dict[str, int]) -> None:
        """Name it."""

    assert properties(name) == {
        "title": {"type": "string"},
        "properties": {"additionalProperties": {"type": "integer"}, "type": "object"},
    }


def test_parameters_may_have_the_names_of_a_model_s_methods() -> None:
    def act(schema: str, copy: int, _json: bool = False) -> None:
        """Act."""

    declared = tool(act)
    values = bind(declared, parse_arguments(declared, '{"schema": "s", "copy": 1}'))
    assert values == {"schema": "s", "copy": 1, "_json": False}


def test_a_parameter_that_json_cannot_say_is_refused_by_name() -> None:
    def act(fine: int, handle: Handle) -> None:
        """Act."""

    def later(fine: int, callback: Callable[[], None]) -> None:
        """Act."""

    assert refused(act).startswith("act: parameter 'handle' has no JSON Schema")
    assert refused(later).startswith("later: parameter 'callback' has no JSON Schema")


def test_a_parameter_without_annotation_is_refused_by_name() -> None:
    def act(fine: int, vague) -> None:  # pyright: ignore[reportUnknownParameterType, reportMissingParameterType]
        """Act."""

    assert refused(act) == "act: parameter 'vague' has no annotation; the model must know its type"  # pyright: ignore[reportUnknownArgumentType]


def test_an_annotation_that_is_not_defined_is_refused_by_name() -> None:
    def act(fine: int, missing: int) -> None:
        """Act."""

    act.__annotations__["missing"] = "Nowhere"
    assert refused(act).startswith("act: parameter 'missing' is annotated 'Nowhere', which cannot be resolved")


def test_parameters_that_cannot_be_given_by_name_are_refused() -> None:
    def many(*values: int) -> None:
        """Act."""

    def named(**values: int) -> None:
        """Act."""

    def placed(value: int, /) -> None:
        """Act."""

    assert refused(many).startswith("many: parameter 'values' takes any number of positional values")
    assert refused(named).startswith("named: parameter 'values' takes any names")
    assert refused(placed).startswith("placed: parameter 'value' is positional-only")


def test_a_docstring_that_describes_no_parameter_is_refused_with_the_nearest() -> None:
    def act(order_id: str) -> None:
        """Act.

        Args:
            orderid: the order
        """

    assert refused(act) == ("act: the docstring describes 'orderid', which is no parameter; did you mean 'order_id'?")


class Shape(TypedDict):
    side: int


@pytest.mark.parametrize(
    "returns",
    [None, str, int, Any, object, Order, list[Item], Shape, Row, list[Row], dict[str, Decimal], Status | None],
    ids=str,
)
def test_a_result_with_a_json_form_is_accepted(returns: Any) -> None:
    def act() -> None:
        """Act."""

    act.__annotations__["return"] = returns
    assert tool(act).says_nothing == (returns is None)


@pytest.mark.parametrize(
    "returns", [bytes, list[bytes], dict[str, bytes], Handle, list[Handle], Callable[[], int]], ids=str
)
def test_a_result_without_json_form_is_refused(returns: Any) -> None:
    def act() -> None:
        """Act."""

    act.__annotations__["return"] = returns
    assert refused(act).startswith("act returns ")


def test_a_result_without_annotation_may_be_anything() -> None:
    def act():
        """Act."""

    assert not tool(act).says_nothing
