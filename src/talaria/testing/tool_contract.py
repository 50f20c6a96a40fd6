"""What every source of tools must do, as tests. Subclass `ToolSourceContract` and say how its four tools are made."""

# ruff: noqa: D102 - the names of tests are their docstrings

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest
import pytest_asyncio

from talaria.agents.agent import AgentSpec
from talaria.core.messages import ToolMessage
from talaria.core.principal import Principal
from talaria.runtime.runtime import Runtime
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from talaria.tools.declaration import NAME, Tool
from talaria.tools.methods import tools_of

SECONDS = 20.0
"""No wait in the suite is longer."""

SECRET = "a-secret-of-the-suite"  # noqa: S105 - of no use anywhere
TOOLS = ("echo", "fail", "hang", "long")
LIMIT = 2_000
"""Characters of a result that a model gets in this suite."""


class ToolSourceContract:
    """The suite for any source of tools. `open_tools(folder)` is the one method to write.

    It gives four tools: `echo(text: string, times: integer = 1, tags: list of strings = [])` returns a JSON object of
    what it got; `fail(words: string)` fails with these words; `hang()` never ends; `long()` returns `first`, 50,000
    dots and `last`. `patience` is how many seconds a call may take in the tests of time limits.
    """

    pytestmark = pytest.mark.asyncio
    patience: ClassVar[float] = 0.3

    def open_tools(self, folder: Path) -> AbstractAsyncContextManager[Sequence[object]]:
        """Give the tools, in a block, after which nothing of them is left."""
        raise NotImplementedError

    @pytest_asyncio.fixture
    async def tools(self, tmp_path: Path) -> AsyncIterator[dict[str, Tool[..., Any]]]:
        """The tools by name."""
        async with self.open_tools(tmp_path) as found:
            yield {each.name: each for each in cast("Sequence[Tool[..., Any]]", tools_of(found))}

    async def test_names_are_good_for_every_provider_and_there_are_all_four(self, tools: dict[str, Any]) -> None:
        assert sorted(tools) == sorted(TOOLS)
        assert [name for name in tools if NAME.fullmatch(name) is None] == []

    async def test_a_model_is_told_what_each_tool_does_and_takes(self, tools: dict[str, Any], tmp_path: Path) -> None:
        model = ScriptedModel(Say("Done."))
        async with self._runtime(tools, model) as runtime:
            await runtime.run("assistant", "Go")
        seen = {spec.name: spec for spec in model.requests[0].prompt.tools}
        assert set(TOOLS) <= set(seen)
        for name in TOOLS:
            assert seen[name].description.strip()
            assert seen[name].parameters["type"] == "object"
            assert json.loads(json.dumps(seen[name].parameters)) == seen[name].parameters
        properties = seen["echo"].parameters["properties"]
        assert [properties[name]["type"] for name in ("text", "times", "tags")] == ["string", "integer", "array"]
        assert seen["echo"].parameters["required"] == ["text"]
        async with self.open_tools(tmp_path) as again:
            other = {each.name: each for each in cast("Sequence[Tool[..., Any]]", tools_of(again))}
        assert {name: other[name].spec for name in TOOLS} == {name: seen[name] for name in TOOLS}

    async def test_arguments_arrive_in_the_types_of_the_schema(self, tools: dict[str, Any]) -> None:
        given = {"text": 7, "times": "2", "tags": "one"}
        plain = {"text": "Grüße, 世界 😀", "times": 3, "tags": ["a", "b"]}
        first, second = await self._results(tools, Call("echo", given), Call("echo", plain))
        assert json.loads(first.text) == {"text": "7", "times": 2, "tags": ["one"]}
        assert json.loads(second.text) == plain
        assert not first.is_error

    async def test_what_was_left_out_may_be_left_out(self, tools: dict[str, Any]) -> None:
        (result,) = await self._results(tools, Call("echo", {"text": "alone"}))
        assert json.loads(result.text)["text"] == "alone"

    @pytest.mark.parametrize(
        ("arguments", "field"), [('{"text": "a", "times": "many"}', "times"), ("{}", "text"), ('{"text": "a"', "")]
    )
    async def test_arguments_that_do_not_fit_are_refused_with_words(
        self, tools: dict[str, Any], arguments: str, field: str
    ) -> None:
        (result,) = await self._results(tools, Call("echo", arguments))
        assert result.is_error
        assert result.text.startswith("The arguments for echo are not valid")
        assert field in result.text

    async def test_a_failure_is_told_in_its_own_words_and_the_run_goes_on(self, tools: dict[str, Any]) -> None:
        (result,) = await self._results(tools, Call("fail", {"words": "no bread today"}))
        assert result.is_error
        assert "no bread today" in result.text

    async def test_calls_at_the_same_time_get_their_own_results(self, tools: dict[str, Any]) -> None:
        calls = [Call("echo", {"text": str(number)}) for number in range(5)]
        results = await self._results(tools, *calls)
        assert [json.loads(each.text)["text"] for each in results] == ["0", "1", "2", "3", "4"]

    async def test_a_call_that_takes_too_long_is_given_up(self, tools: dict[str, Any]) -> None:
        limits = {"toolTimeout": self.patience}
        (result,) = await self._results(tools, Call("hang"), limits=limits)
        assert result.is_error
        assert result.text.startswith("Timed out after")

    async def test_a_cancelled_run_does_not_wait_for_its_call(self, tools: dict[str, Any]) -> None:
        model = ScriptedModel(Call("hang"))
        finish, run_id = "", ""
        async with asyncio.timeout(SECONDS), self._runtime(tools, model) as runtime:
            async for event in runtime.stream("assistant", "Go"):
                if event.type == "run_started":
                    run_id = str(event.data)
                elif event.type == "tool_started":
                    await runtime.parts.desk.cancel(Principal(), run_id)
                elif event.type == "finish":
                    finish = str(event.reason)
        assert finish == "cancelled"

    async def test_a_long_result_is_shortened_and_can_be_recalled(self, tools: dict[str, Any]) -> None:
        recall = Call("recall", {"call_id": "long-1", "offset": 49_900, "limit": 200})
        model = ScriptedModel(Call("long", id="long-1"), recall, Say("Done."))
        async with asyncio.timeout(SECONDS), self._runtime(tools, model) as runtime:
            result = await runtime.run("assistant", "Go")
        shortened, rest = [each.text for each in result.messages if isinstance(each, ToolMessage)]
        assert shortened.startswith("first.")
        assert shortened.endswith(".last")
        assert LIMIT <= len(shortened) < LIMIT + 500
        assert "left out" in shortened
        assert rest.endswith("....last")

    async def test_secrets_of_the_request_never_come_back(self, tools: dict[str, Any]) -> None:
        calls = (Call("echo", {"text": f"it is {SECRET}"}), Call("fail", {"words": f"not {SECRET}"}))
        results = await self._results(tools, *calls, secrets={"key": SECRET})
        assert [SECRET in each.text for each in results] == [False, False]
        assert ["[masked]" in each.text for each in results] == [True, True]

    def _runtime(self, tools: dict[str, Any], model: ScriptedModel, **config: Any) -> Runtime:
        limits = {"toolResultLimit": LIMIT} | config.get("limits", {})
        settings = {"store": {"url": "memory://"}} | config | {"limits": limits}
        return Runtime(settings, model=model, tools=list(tools.values()), clock=FakeClock())

    async def _results(
        self, tools: dict[str, Any], *calls: Call, limits: Any = None, **fields: Any
    ) -> list[ToolMessage]:
        model = ScriptedModel(Say(calls=calls), Say("Done."))
        agent = AgentSpec("assistant")
        async with asyncio.timeout(SECONDS), self._runtime(tools, model, limits=limits or {}) as runtime:
            result = await runtime.run(agent, "Go", **fields)
        model.check()
        assert result.finish_reason == "stop"
        return [each for each in result.messages if isinstance(each, ToolMessage)]
