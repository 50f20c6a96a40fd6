"""Requests: the same bytes for the same question, and a beginning that stays while a conversation grows."""

# ruff: noqa: D102 - the names of tests are their docstrings

import json
from collections.abc import Iterator
from typing import Any, cast

import pytest

from talaria.core.messages import (
    AssistantMessage,
    File,
    Image,
    Message,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from talaria.ports.model import HttpCall, ModelRequest, Prompt, ToolSpec
from talaria.testing.dialect_contract.cases import KEY, MODEL, Cases

SYSTEM = "Answer in rhyme."
MARKS = frozenset(("cache_control",))
"""What may move along as a conversation grows: where the provider is to cache up to."""
TOOLS = (
    ToolSpec("weather", "Say what the weather is.", {"type": "object", "properties": {"city": {"type": "string"}}}),
    ToolSpec("now", "Say what time it is.", {"type": "object", "properties": {}}),
)
CONVERSATION: tuple[Message, ...] = (
    UserMessage((Text("What is the weather in Oslo and in Rome?"),), sent="Monday"),
    AssistantMessage(
        (
            Reasoning("Two cities.", "another issuer"),
            Text("I look."),
            ToolCall("call-1", "weather", '{"city":"Oslo"}'),
            ToolCall("call-2", "weather", '{"city":"Rome"}', provider_id="own-2"),
        )
    ),
    ToolMessage("call-1", "weather", "rain in the north", images=(Image("image/png", "QUJD"),)),
    ToolMessage("call-2", "weather", "no such city", is_error=True),
    AssistantMessage((Text("It rains in Oslo."),)),
    UserMessage((Text("And now?"),)),
)
DIRTY: tuple[Message, ...] = (
    UserMessage((Text(""),)),
    AssistantMessage(()),
    AssistantMessage((Text("Half an ans"),), incomplete=True),
    SystemMessage("A note."),
    AssistantMessage((ToolCall("c", "now", '{"city":'),)),
    ToolMessage("c", "now", ""),
    UserMessage((Text("See:"), Image("image/png", "QUJD"), Image("image/png", blob="b"), File("a.txt", text="inside"))),
    UserMessage((Text("Twice in a row, \u4e00\U0001f600 \x07."),)),
)


class RequestContract(Cases):
    """`Dialect.request`."""

    def ask(self, request: ModelRequest) -> HttpCall:
        """Write a request with a new dialect and a new connection."""
        return self.make().request(request, self.connect(KEY))

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """The JSON of a request."""
        return json.loads(self.ask(request).body)

    def test_a_request_has_the_model_the_conversation_and_the_tools(self) -> None:
        body = self.body(ModelRequest(MODEL, Prompt(SYSTEM, TOOLS, CONVERSATION)))
        texts = "\n".join(strings(body))
        for part in (
            MODEL,
            SYSTEM,
            "What is the weather in Oslo and in Rome?",
            "Monday",
            "It rains in Oslo.",
            "And now?",
        ):
            assert part in texts
        assert "rain in the north" in texts
        assert "Two cities." not in texts, "another issuer's reasoning went out"
        for tool in TOOLS:
            assert {tool.name, tool.description} <= set(strings(body))
        assert any(each == TOOLS[0].parameters["properties"] for each in dicts(body))
        assert texts.index("What is the weather") < texts.index("rain in the north") < texts.index("And now?")

    def test_the_key_is_in_the_headers_and_nowhere_else(self) -> None:
        call = self.ask(ModelRequest(MODEL, Prompt(SYSTEM, TOOLS, CONVERSATION)))
        assert any(KEY in value for _, value in call.headers)
        assert KEY not in call.url
        assert KEY.encode() not in call.body
        assert KEY not in repr(self.connect(KEY))

    def test_the_same_question_is_the_same_bytes(self) -> None:
        def once() -> HttpCall:
            return self.ask(ModelRequest(MODEL, Prompt(SYSTEM, TOOLS, CONVERSATION), "enabled", 0.5, 100))

        assert once() == once()

    def test_a_prompt_that_has_grown_is_written_like_a_new_one(self) -> None:
        dialect, connection = self.make(), self.connect(KEY)
        prompt = Prompt(SYSTEM, TOOLS)
        request = ModelRequest(MODEL, prompt)
        for message in CONVERSATION:
            prompt.messages.append(message)
            dialect.request(request, connection)
        grown = dialect.request(request, connection).body
        assert grown == self.ask(ModelRequest(MODEL, Prompt(SYSTEM, TOOLS, CONVERSATION))).body

    def test_the_beginning_stays_while_a_conversation_grows(self) -> None:
        """Providers cache beginnings: what was sent before is sent again, and what is new comes after it."""
        bodies = [
            self.body(ModelRequest(MODEL, Prompt(SYSTEM, TOOLS, CONVERSATION[:at])))
            for at in (1, 4, len(CONVERSATION))  # an assistant's calls and their results belong together
        ]
        assert _grows(bodies[0], bodies[1])
        assert _grows(bodies[1], bodies[2])

    def test_messages_are_written_once(self) -> None:
        dialect, connection = self.make(), self.connect(KEY)
        prompt = Prompt(SYSTEM, TOOLS, CONVERSATION)
        first = dialect.request(ModelRequest(MODEL, prompt), connection).body
        prompt.messages[0] = UserMessage((Text("Somebody changed what was said."),))  # nobody does: it only grows
        assert dialect.request(ModelRequest(MODEL, prompt), connection).body == first

    def test_options_that_nobody_asks_for_are_left_out(self) -> None:
        plain = self.body(ModelRequest(MODEL, Prompt("", (), CONVERSATION[:1])))
        assert None not in plain.values()
        asked = self.body(ModelRequest(MODEL, Prompt("", (), CONVERSATION[:1]), temperature=0.25))
        assert 0.25 in asked.values()
        assert 0.25 not in plain.values()

    def test_a_limit_of_tokens_is_passed_on(self) -> None:
        limited = self.body(ModelRequest(MODEL, Prompt("", (), CONVERSATION[:1]), max_tokens=4_321))
        assert 4_321 in limited.values()

    @pytest.mark.parametrize("choice", ["auto", "none", "required"])
    @pytest.mark.parametrize("thinking", [None, "enabled", "disabled"])
    def test_every_choice_can_be_written(self, choice: Any, thinking: Any) -> None:
        prompt = Prompt(SYSTEM, TOOLS, CONVERSATION)
        assert self.body(ModelRequest(MODEL, prompt, thinking, tool_choice=choice))
        assert self.body(ModelRequest(MODEL, Prompt(SYSTEM, (), CONVERSATION[:1]), thinking, tool_choice=choice))

    def test_dirty_histories_can_be_written(self) -> None:
        for at in range(1, len(DIRTY) + 1):
            assert self.body(ModelRequest(MODEL, Prompt("", TOOLS, DIRTY[:at])))


def values(value: Any) -> Iterator[Any]:
    """Yield a JSON value and everything in it."""
    yield value
    inner = cast("Any", value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
    for each in inner:
        yield from values(each)


def strings(value: Any) -> list[str]:
    """All texts in a JSON value, in order."""
    return [each for each in values(value) if isinstance(each, str)]


def dicts(value: Any) -> list[dict[str, Any]]:
    """All objects in a JSON value, outer ones first."""
    return [cast("dict[str, Any]", each) for each in values(value) if isinstance(each, dict)]


def _grows(before: Any, after: Any) -> bool:
    """Whether `after` is `before` with nothing changed and lists that may go on."""
    if isinstance(before, dict) and isinstance(after, dict):
        old, new = _unmarked(cast("dict[str, Any]", before)), _unmarked(cast("dict[str, Any]", after))
        return old.keys() == new.keys() and all(_grows(old[key], new[key]) for key in old)
    if isinstance(before, list) and isinstance(after, list):
        first, second = cast("list[Any]", before), cast("list[Any]", after)
        return len(first) <= len(second) and all(map(_grows, first, second))
    return before == after


def _unmarked(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in fields.items() if key not in MARKS}
