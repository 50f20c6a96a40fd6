"""What `@tool` and `Tool` make of a function, and what they refuse at import."""

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import FrozenInstanceError
from decimal import Decimal
from functools import partial, wraps
from typing import Any

import pytest

from talaria.core.errors import ConfigurationError
from talaria.core.principal import Principal
from talaria.ports.model import ToolSpec
from talaria.tools.arguments import bind, parse_arguments
from talaria.tools.context import ToolContext
from talaria.tools.declaration import Tool, tool
from talaria.tools.errors import ToolInvalid
from talaria.tools.options import FunctionOptions

OBJECT: dict[str, Any] = {"type": "object"}


@tool
def greet(name: str, greeting: str = "Hello") -> str:
    """Greet somebody."""
    return f"{greeting}, {name}!"


@tool(name="Lookup", group="people", permission="reader", side_effects=False, timeout=5, result_limit=100)
async def look_up(name: str, ctx: ToolContext) -> str:
    """Look somebody up."""
    return f"{name} for {ctx.principal.user}"


def refused(declare: Callable[[], object]) -> str:
    with pytest.raises(ToolInvalid) as caught:
        declare()
    return caught.value.message


def test_a_declared_function_can_still_be_called_as_it_was_written() -> None:
    assert greet("Ada") == "Hello, Ada!"
    assert greet(name="Ada", greeting="Bye") == "Bye, Ada!"


async def test_a_declared_async_function_can_still_be_awaited() -> None:
    assert await look_up("Ada", ToolContext()) == "Ada for anonymous"


def test_a_tool_has_the_name_of_its_function_and_the_first_paragraph_of_its_docstring() -> None:
    assert (greet.name, greet.description) == ("greet", "Greet somebody.")


def test_the_decorator_may_give_name_description_and_options() -> None:
    assert (look_up.name, look_up.group, look_up.permission) == ("Lookup", "people", "reader")
    assert (look_up.timeout, look_up.result_limit) == (5, 100)
    assert tool(description="Say hello.")(greet.fn).description == "Say hello."


def test_a_tool_knows_whether_it_is_async_and_where_its_context_goes() -> None:
    assert (greet.is_async, greet.context_parameter) == (False, None)
    assert (look_up.is_async, look_up.context_parameter) == (True, "ctx")


async def test_a_call_by_values_hands_over_the_context_and_nothing_in_the_values_replaces_it() -> None:
    context = ToolContext(principal=Principal(user="eve"))
    assert greet.call({"name": "Ada", "greeting": "Hi"}, context) == "Hi, Ada!"
    assert await look_up.call({"name": "Ada", "ctx": None}, context) == "Ada for eve"


def test_a_context_never_shows_its_secrets_in_a_repr() -> None:
    assert "hunter2" not in repr(ToolContext(secrets={"apiKey": "hunter2"}, deps="hunter2", run_id="r"))


def test_the_spec_is_what_a_model_sees_and_is_made_once() -> None:
    assert greet.spec == ToolSpec("greet", "Greet somebody.", greet.parameters)
    assert greet.spec is greet.spec


def test_a_tool_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        greet.name = "other"  # pyright: ignore[reportAttributeAccessIssue]


def test_a_tool_is_careful_unless_declared_otherwise() -> None:
    assert greet.side_effects
    assert greet.acts_outside
    assert not greet.may_run_in_parallel
    assert not greet.may_be_repeated
    assert (greet.approval, greet.unknown_outcome) == (False, "tell")


def test_a_tool_without_side_effects_may_run_in_parallel_and_be_repeated() -> None:
    assert look_up.may_run_in_parallel
    assert look_up.may_be_repeated
    assert not look_up.acts_outside


def test_what_is_said_about_outside_and_parallel_goes_before_the_defaults() -> None:
    searching = Tool("search", "Search.", OBJECT, greet.fn, side_effects=False, outside=True, parallel=False)
    assert searching.acts_outside
    assert not searching.may_run_in_parallel


def test_an_idempotent_tool_may_be_repeated() -> None:
    assert Tool("put", "Put.", OBJECT, greet.fn, idempotent=True).may_be_repeated


def test_an_approval_rule_sees_values_of_the_types_of_the_parameters() -> None:
    def dear(values: dict[str, Any]) -> bool:
        return values["amount"] > 100

    def pay(amount: Decimal, note: str = "") -> None:
        """Pay."""

    declared = tool(approval=dear)(pay)
    assert callable(declared.approval)
    assert declared.approval(bind(declared, parse_arguments(declared, '{"amount": "100.01"}')))
    assert not declared.approval(bind(declared, parse_arguments(declared, '{"amount": 7}')))


def test_a_tool_made_by_hand_takes_its_schema_as_given_and_its_values_as_json() -> None:
    schema = {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}}
    by_hand = Tool("weather", "The weather.", schema, dict[str, Any], group="web")
    assert by_hand.spec.parameters is schema
    assert by_hand.call(bind(by_hand, {"day": "2024-02-30"}), ToolContext()) == {"day": "2024-02-30"}


def test_a_tool_made_by_hand_gets_a_context_where_it_is_annotated() -> None:
    def who(context: ToolContext) -> str:
        return context.run_id

    by_hand = Tool("who", "Who.", OBJECT, who)
    assert by_hand.context_parameter == "context"
    assert by_hand.call({}, ToolContext(run_id="run_1")) == "run_1"


def test_an_object_with_an_async_call_is_an_async_tool() -> None:
    class Remote:
        async def __call__(self, **arguments: Any) -> str:
            return "there"

    assert Tool("remote", "Remote.", OBJECT, Remote()).is_async
    assert Tool("partly", "Partly.", OBJECT, partial(look_up.fn, "Ada")).is_async


def test_a_wrapped_function_keeps_its_own_signature() -> None:
    def logged(fn: Callable[..., str]) -> Callable[..., str]:
        @wraps(fn)
        def inner(*args: Any, **kwargs: Any) -> str:
            return fn(*args, **kwargs)

        return inner

    assert tool(logged(greet.fn)).parameters == greet.parameters


@pytest.mark.parametrize("name", ["", "two words", "naïve", "a" * 65, "a.b", "2fa", "-a", "a\n", "a:b"])
def test_a_name_that_some_provider_would_refuse_is_refused(name: str) -> None:
    assert "a name is 1 to 64 of a-z A-Z 0-9 _ - and begins with a letter or _" in refused(
        lambda: Tool(name, "Text.", OBJECT, greet.fn)
    )


def test_a_lambda_needs_a_name() -> None:
    assert "pass name=… to @tool" in refused(lambda: tool(description="Nothing.")(lambda: None))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"timeout": 0}, "timeout is in seconds and more than 0"),
        ({"result_limit": 0}, "result_limit is in characters and at least 1"),
        ({"unknown_outcome": "guess"}, "unknown_outcome is 'tell' or 'ask'"),
        ({"approval": "yes"}, "approval is True, False or a function"),
        ({"retries": 2}, "retries repeat its calls; declare side_effects=False, or idempotent=True"),
        ({"retries": 11, "idempotent": True}, "retries is 0 to 10, not 11"),
        ({"retries": -1, "idempotent": True}, "retries is 0 to 10, not -1"),
        ({"isolate": "thread"}, "isolate is None or, on POSIX systems, 'process', not 'thread'"),
        ({"aliases": {"nam": {}}}, "aliases name 'nam', which is no parameter; there are 'name', 'greeting'; did you"),
        (
            {"aliases": {"name": {"A": "Ada"}}},
            "the alias 'A' of 'name' stands for \"Ada\", but that parameter takes no",
        ),
    ],
)
def test_an_option_that_would_not_do_what_it_says_is_refused(options: FunctionOptions, said: str) -> None:
    assert said in refused(lambda: tool(**options)(greet.fn))


def test_a_missing_description_is_refused() -> None:
    def mute(name: str) -> None: ...

    assert refused(lambda: tool(mute)).startswith("mute has no description; write a docstring")
    assert "has no description" in refused(lambda: Tool("mute", " ", OBJECT, mute))


def test_a_generator_is_refused() -> None:
    def counting() -> Iterator[int]:
        """Count."""
        yield 1

    async def streaming() -> AsyncIterator[int]:
        """Stream."""
        yield 1

    assert "counting returns" in refused(lambda: tool(counting))
    assert "'streaming' is a generator" in refused(lambda: Tool("streaming", "Stream.", OBJECT, streaming))


@pytest.mark.parametrize("schema", [{}, {"type": "array"}, {"type": "object", "properties": {"a": {"type": "strin"}}}])
def test_a_hand_written_schema_that_is_none_is_refused(schema: dict[str, Any]) -> None:
    assert "JSON Schema" in refused(lambda: Tool("odd", "Odd.", schema, greet.fn))


def test_a_hand_written_schema_is_never_fetched_from_elsewhere() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}}
    assert "no valid JSON Schema" in refused(lambda: Tool("remote", "Remote.", schema, greet.fn))


def test_a_wrong_declaration_is_a_configuration_error() -> None:
    assert issubclass(ToolInvalid, ConfigurationError)
