"""The parts that other tests are made with: the scripted model and the model server."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from talaria.core.errors import ModelUnavailable, StreamTruncated
from talaria.core.messages import AssistantMessage, Reasoning, Text, ToolCall
from talaria.models.gateway import Gateway
from talaria.models.http import AioHttpTransport
from talaria.models.routes import Route
from talaria.ports.model import Answer, ReasoningDelta, Restart, TextDelta
from talaria.testing.model_server import ModelServer, by_call, load_script, since_user
from talaria.testing.scripted_model import Call, Cut, Fail, Restarted, Say, ScriptedModel
from talaria.testing.steps import Step
from tests.models.fakes import NotingClock, ask, collect


async def test_a_scripted_model_says_what_it_is_told() -> None:
    model = ScriptedModel(Say("Hello", "Hm", (Call("search", {"q": 1}),), chunk=3), Call("ping"))
    items = await collect(model.stream(ask()))
    assert items[:-1] == [ReasoningDelta("Hm"), TextDelta("Hel"), TextDelta("lo")]
    answer = items[-1]
    assert isinstance(answer, Answer)
    call = ToolCall("scripted_1", "search", '{"q":1}')
    assert answer.message == AssistantMessage((Reasoning("Hm", "scripted"), Text("Hello"), call), "gpt-x")
    last = (await collect(model.stream(ask())))[-1]
    assert isinstance(last, Answer)
    assert last.finish == "tool_calls"
    model.check()


async def test_a_scripted_model_fails_and_restarts() -> None:
    model = ScriptedModel(Fail(ModelUnavailable("no")), Cut("Hal"), Restarted("Hal", Say("Hello")))
    with pytest.raises(ModelUnavailable):
        await collect(model.stream(ask()))
    with pytest.raises(StreamTruncated):
        await collect(model.stream(ask()))
    items = await collect(model.stream(ask()))
    assert [type(item) for item in items] == [TextDelta, Restart, TextDelta, Answer]
    model.check()


async def test_steps_left_over_or_missing_fail() -> None:
    model = ScriptedModel(Say("a"))
    with pytest.raises(
        AssertionError, match=r"1 steps were never asked for; the next one is Say.*was last asked nothing"
    ):
        model.check()
    await collect(model.stream(ask()))
    with pytest.raises(AssertionError, match=r'more often than scripted: {"role":"user","content":"why"}'):
        await collect(model.stream(ask(text="why")))
    with pytest.raises(
        AssertionError, match=r'1 more times than scripted:\n- {"role":"user","content":"why"} \(message 1'
    ):
        model.check()


async def test_a_gate_holds_the_answer_until_the_test_opens_it() -> None:
    gate = asyncio.Event()
    model = ScriptedModel(script=lambda request: Say(f"to {request.model}", chunk=2, gate=gate))
    stream = model.stream(ask())
    assert await anext(stream) == [TextDelta("to")]
    assert await anext(stream) == [TextDelta(" g")]
    waiting = asyncio.create_task(collect(stream))
    await model.wait_until(lambda: len(model.requests) == 1)
    assert not waiting.done()
    gate.set()
    assert (await waiting)[0] == TextDelta("pt")


async def test_a_stream_let_go_is_counted() -> None:
    model = ScriptedModel(Say("abc", chunk=1))
    stream = model.stream(ask())
    await anext(stream)
    await stream.aclose()
    assert model.closed_early == 1


def test_a_script_without_state_counts_the_calls_of_the_turn() -> None:
    script = by_call([Step("one"), Step("two")])
    roles = ["user", "assistant", "user", "assistant", "tool", "tool"]
    body = {"messages": [{"role": role} for role in roles]}
    assert script({"messages": [{"role": "user"}]}).text == "one"
    assert script(body).text == "two"
    assert since_user(body, "tool") == 2


async def test_a_server_whose_script_is_over_says_so() -> None:
    transport = AioHttpTransport()
    async with ModelServer([]) as server:
        model = Gateway([Route("", server.base_url, retries=0)], transport, NotingClock())
        with pytest.raises(ModelUnavailable) as caught:
            await collect(model.stream(ask()))
    assert "the script is over" in caught.value.operator
    assert '"content":"hello"' in caught.value.operator.replace("\\", "")
    with pytest.raises(AssertionError, match=r'1 more times than scripted:\n- {"role":"user","content":"hello"}'):
        server.check()
    await transport.close()


async def test_steps_that_a_server_was_never_asked_for_fail() -> None:
    transport = AioHttpTransport()
    async with ModelServer([Step(text="one"), Step(text="two")]) as server:
        await collect(Gateway([Route("", server.base_url)], transport, NotingClock()).stream(ask()))
        with pytest.raises(
            AssertionError, match=r"1 steps were never asked for; the next one is .*two.* last asked .*hello"
        ):
            server.check()
        await collect(Gateway([Route("", server.base_url)], transport, NotingClock()).stream(ask()))
        server.check()
    await transport.close()


def test_a_script_that_is_no_list_of_steps_is_refused_with_an_example(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"calls": [{"name": "search"}]}]))
    with pytest.raises(SystemExit, match=r'no list of steps such as \[\{"calls": \[\["stock", .*calls\[0\]'):
        load_script(str(script))
    with pytest.raises(SystemExit, match=r"cannot read .*nowhere\.json: No such file"):
        load_script(str(tmp_path / "nowhere.json"))


async def test_the_server_runs_as_a_process_of_its_own(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"calls": [["search", {"q": 1}]]}, {"text": "Done."}]))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "talaria.testing.model_server", "--script", str(script), "--port", "0"),
        stdout=asyncio.subprocess.PIPE,
    )
    transport = AioHttpTransport()
    try:
        assert process.stdout is not None
        async with asyncio.timeout(20):
            word, port = (await process.stdout.readline()).split()
        assert word == b"PORT"
        model = Gateway([Route("", f"http://127.0.0.1:{int(port)}/v1")], transport, NotingClock())
        answer = (await collect(model.stream(ask())))[-1]
        assert isinstance(answer, Answer)
        assert answer.message.calls == (ToolCall("call_1_0", "search", '{"q": 1}'),)
    finally:
        await transport.close()
        process.kill()
        await process.wait()
