"""Final answers that have a schema: given as text or in a call, judged, repaired a few times, and exactly once said."""

import asyncio
from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria import tool
from talaria.core.ids import SessionKey
from talaria.core.messages import AssistantMessage, Text, UserMessage
from talaria.journal.entries import ModelFinished, TurnStarted
from talaria.journal.session import SessionWriter
from talaria.journal.state import SessionState
from talaria.journal.turn import OutputSpec
from talaria.runtime.stores import open_store
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Restarted, Say, ScriptedModel
from tests.runtime.answers import BY_TOOL, GOOD, NATIVE, TOTAL, assert_every_way_shows, frames, placed, shown
from tests.runtime.tools import Shop
from tests.runtime.world import (
    assert_valid_wire,
    bounded,
    end_of,
    told,
    world,
)

# The model keeps to the schema


async def test_an_answer_that_fits_is_the_finish_events_data() -> None:
    model = ScriptedModel(Say(GOOD))
    async with world(model, **NATIVE) as here:
        events = await here.ask(output_schema=TOTAL, tools=[])
        assert told(events) == snapshot(["run_started", 'token {"total": 7}', "finish stop"])
        assert events[-1].data == GOOD
        assert await here.tales() == snapshot(
            ["ContextSet", "TurnStarted", "ModelFinished", "AnswerAccepted", "RunFinished"]
        )
    assert model.requests[0].output_schema == TOTAL
    assert model.requests[0].prompt.tools == ()


async def test_an_answer_that_does_not_fit_is_taken_back_and_asked_for_again(store: str) -> None:
    model = ScriptedModel(Say('{"total": "many"}', reasoning="Hm."), Say(GOOD, chunk=4))
    async with world(model, store=store, **NATIVE) as here:
        run_id = await here.send(output_schema=TOTAL)
        events = await here.events(run_id)
        assert told(events) == snapshot(
            [
                "run_started",
                "reasoning Hm.",
                'token {"total": "many"}',
                "rewind",
                'token {"to',
                'token tal"',
                "token : 7}",
                "finish stop",
            ]
        )
        await assert_every_way_shows(here, run_id, GOOD)
        assert_valid_wire(await here.messages())
        assert [message["content"] for message in await here.messages()] == ["Go", GOOD]
    assert model.prompts[1][: len(model.prompts[0])] == model.prompts[0]
    wrong, told_so = model.prompts[1][-2:]
    assert isinstance(wrong, AssistantMessage)
    assert isinstance(told_so, UserMessage)
    assert wrong.text == '{"total": "many"}'
    lines = told_so.sent.splitlines()
    assert lines[:3] == snapshot(
        [
            "[Automatic check] Your answer was not accepted:",
            '- total: expected integer, got "many"',
            "Correct it and answer again, with nothing but the JSON.",
        ]
    )
    assert lines[3].startswith('The JSON Schema: {"type":"object"')


async def test_an_answer_is_asked_for_again_only_so_often() -> None:
    model = ScriptedModel(Say("one"), Say("two"), Say("three"))
    async with world(model, **NATIVE) as here:
        run_id = await here.send(output_schema=TOTAL)
        events = await here.events(run_id)
        assert end_of(events) == ("error", "output_invalid")
        assert events[-1].data == snapshot(
            "the model's answer does not fit the schema: there is no JSON object in it; write one."
        )
        await assert_every_way_shows(here, run_id, "")
        assert (await here.tales()).count("AnswerRejected") == 3
        model_two = ScriptedModel(Say("one"))
    async with world(model_two, limits={"outputRepairs": 0}, **NATIVE) as here:
        assert end_of(await here.ask(output_schema=TOTAL)) == ("error", "output_invalid")
    model.check()


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ('```json\n{"total": 7}\n```', '{"total":7}'),
        ('{"total": "7"}', '{"total":7}'),
        ("{'total': 7,}", '{"total":7}'),
        ('\n {"total": 7}\n', '\n {"total": 7}\n'),
    ],
)
async def test_what_is_mended_replaces_what_was_said(said: str, answer: str) -> None:
    async with world(ScriptedModel(Say(said, reasoning="Hm.")), **NATIVE) as here:
        run_id = await here.send(output_schema=TOTAL)
        events = await here.events(run_id)
        assert events[-1].data == answer
        assert "reasoning Hm." in told(events)
        await assert_every_way_shows(here, run_id, answer)


async def test_an_answer_at_the_token_limit_is_not_asked_for_again() -> None:
    async with world(ScriptedModel(Say('{"tot', finish="length")), **NATIVE) as here:
        events = await here.ask(output_schema=TOTAL)
        assert (end_of(events), events[-1].data) == (("finish", "length"), None)


async def test_a_repair_needs_a_round() -> None:
    async with world(ScriptedModel(Say("no"), Say("no")), limits={"maxRounds": 2}, **NATIVE) as here:
        events = await here.ask(output_schema=TOTAL)
        assert (end_of(events), events[-1].data) == (("finish", "maxRounds"), None)


async def test_a_second_attempt_at_a_repair_goes_back_to_the_rejection() -> None:
    model = ScriptedModel(Say("no"), Restarted('{"total": 1', Say(GOOD)))
    async with world(model, **NATIVE) as here:
        run_id = await here.send(output_schema=TOTAL)
        live = await bounded(frames(here, run_id))
        assert [frame.event.type for frame in live].count("rewind") in (1, 2)
        assert shown(placed(run_id, live)) == GOOD
        await assert_every_way_shows(here, run_id, GOOD)


# A tool takes the answer


async def test_an_answer_given_in_a_call_is_said_once_it_is_accepted(store: str) -> None:
    shop = Shop()
    model = ScriptedModel(Call("look"), Call("final_answer", GOOD))
    async with world(model, tools=[shop.look], store=store, **BY_TOOL) as here:
        run_id = await here.send(output_schema=TOTAL)
        events = await here.events(run_id)
        assert told(events) == snapshot(
            [
                "run_started",
                "tool_call look{}",
                "tool_started look",
                "tool_result look: there is a shelf",
                'tool_call final_answer{"total": 7}',
                "tool_result final_answer: The answer was accepted.",
                'token {"total": 7}',
                "finish stop",
            ]
        )
        assert events[-1].data == GOOD
        await assert_every_way_shows(here, run_id, GOOD)
        messages = await here.messages()
        assert_valid_wire(messages)
        assert messages[-1] == {"role": "assistant", "content": GOOD}
    assert [tool.name for tool in model.requests[0].prompt.tools] == ["look", "AskUser", "recall", "final_answer"]
    assert model.requests[0].prompt is model.requests[1].prompt
    assert model.requests[0].output_schema is None


async def test_a_call_that_does_not_fit_is_answered_with_what_is_wrong() -> None:
    model = ScriptedModel(Say("So:", calls=(Call("final_answer", {"totl": 1}),)), Call("final_answer", {"total": "7"}))
    async with world(model, **BY_TOOL) as here:
        run_id = await here.send(output_schema=TOTAL)
        events = await here.events(run_id)
        assert told(events) == snapshot(
            [
                "run_started",
                "token So:",
                'tool_call final_answer{"totl":1}',
                """\
tool_result final_answer: The arguments for final_answer are not valid; correct them and call it again:
- totl: there is no such field; there are 'total'; did you mean 'total'?
- total: is missing\
""",
                'tool_call final_answer{"total":"7"}',
                "tool_result final_answer: The answer was accepted.",
                'token {"total":7}',
                "finish stop",
            ]
        )
        assert events[-1].data == '{"total":7}'
        await assert_every_way_shows(here, run_id, 'So:{"total":7}')


async def test_an_answer_is_given_alone_after_the_results_of_other_calls() -> None:
    shop = Shop()
    together = Say(calls=(Call("sell", {"what": "rug"}), Call("final_answer", {"total": 1})))
    twice = Say(calls=(Call("final_answer", {"total": 1}), Call("final_answer", {"total": 2})))
    model = ScriptedModel(together, twice, Call("final_answer", GOOD))
    async with world(model, tools=[shop.sell], **BY_TOOL) as here:
        events = await here.ask(output_schema=TOTAL)
        assert events[-1].data == GOOD
        assert (await here.tales()).count("AnswerRejected") == 1
        assert_valid_wire(await here.messages())
    assert shop.done == ["sell rug"]


async def test_text_counts_as_an_answer_if_it_fits_and_is_refused_if_not() -> None:
    model = ScriptedModel(Say("Seven."), Say(GOOD))
    async with world(model) as here:
        run_id = await here.send(output_schema=TOTAL)
        assert (await here.events(run_id))[-1].data == GOOD
        await assert_every_way_shows(here, run_id, GOOD)
    assert "call final_answer" in str(model.prompts[1][-1])


async def test_a_tool_of_the_same_name_keeps_its_own() -> None:
    done: list[str] = []

    @tool
    def final_answer(what: str) -> str:
        """Say it."""
        done.append(what)
        return what

    model = ScriptedModel(Call("final_answer", {"what": "x"}), Call("final_answer_", GOOD))
    async with world(model, tools=[final_answer]) as here:
        assert (await here.ask(output_schema=TOTAL))[-1].data == GOOD
    assert done == ["x"]


async def test_above_the_limit_of_calls_an_answer_can_still_be_given_in_one() -> None:
    model = ScriptedModel(Call("look"), Call("look"), Call("final_answer", {}), Call("final_answer", GOOD))
    async with world(model, tools=[Shop().look], limits={"maxToolCalls": 1}) as here:
        events = await here.ask(output_schema=TOTAL)
        assert (end_of(events), events[-1].data) == (("finish", "toolCallLimitExceeded"), GOOD)
    assert {request.tool_choice for request in model.requests} == {"auto"}


async def test_an_answer_waits_for_what_a_person_has_to_decide() -> None:
    shop = Shop()
    model = ScriptedModel(Say(calls=(Call("refund"), Call("final_answer", {"total": 1}))), Call("final_answer", GOOD))
    config: dict[str, Any] = {"approval": {"requiredTools": ["refund"]}}
    async with world(model, tools=[shop.refund], **BY_TOOL, **config) as here:
        run_id = await here.send(output_schema=TOTAL)
        request_id = await here.question(run_id)
        await here.stands(run_id, "waiting_approval")
        await here.decide(request_id)
        events = await here.events(run_id)
        assert events[-1].data == GOOD
        await assert_every_way_shows(here, run_id, GOOD)
    assert shop.done == ["refund 1"]


# Restarts


async def test_a_stop_between_the_rejection_and_the_next_answer_changes_nothing(sqlite: str) -> None:
    gate, clock = asyncio.Event(), FakeClock()
    first = ScriptedModel(Say("no"), Say('{"total": 1}', chunk=5, gate=gate))
    async with world(first, store=sqlite, clock=clock, **NATIVE) as here:
        run_id = await here.send(output_schema=TOTAL)
        await here.until(run_id, "rewind")
        await first.wait_until(lambda: len(first.requests) == 2)
    second = ScriptedModel(Say("no again"), Say(GOOD))
    async with world(second, store=sqlite, clock=clock, **NATIVE) as here:
        assert (await here.events(run_id))[-1].data == GOOD
        await assert_every_way_shows(here, run_id, GOOD)
        assert (await here.tales()).count("AnswerRejected") == 2
    assert second.prompts[0] == first.prompts[1]


# A crash between an answer and its verdict


async def test_an_answer_that_a_crash_left_without_a_verdict_is_judged_in_the_next_process(sqlite: str) -> None:
    key, run = SessionKey("default", "anonymous", "-", "s-1"), "run_1"
    store = await open_store(sqlite)
    epoch = await store.leases.acquire(key.path)
    assert epoch is not None
    writer = SessionWriter(store.journal, SessionState(key), epoch, lambda _: None)
    writer.record(
        TurnStarted(
            run=run,
            at=0,
            agent="assistant",
            model="gpt-x",
            message=UserMessage((Text("Go"),)),
            output=OutputSpec(TOTAL),
        ),
        ModelFinished(run=run, at=0, round=1, epoch=1, attempt=1, message=AssistantMessage((Text("no"),))),
    )
    await writer.flush()
    await store.close()
    model = ScriptedModel(Say(GOOD))
    async with world(model, store=sqlite, **NATIVE) as here:
        assert (await here.events(run))[-1].data == GOOD
        await assert_every_way_shows(here, run, GOOD)
        assert (await here.tales())[2:] == snapshot(
            ["RunResumed", "AnswerRejected", "ModelFinished", "AnswerAccepted", "RunFinished"]
        )
