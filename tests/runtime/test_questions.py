"""Questions that a model asks the user with AskUser: asked once, answered by the user, and waited for durably."""

import asyncio
from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria import Agent, Principal
from talaria.core.errors import Conflict, InvalidRequest, NotFound
from talaria.core.redaction import MASK
from talaria.journal.entries import ApprovalResolved
from talaria.runtime.desk import LONGEST_ANSWER
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from talaria.tools.ask_user import UNANSWERED
from talaria.tools.recall import RECALL
from tests.runtime.tools import Shop
from tests.runtime.world import ME, World, assert_valid_wire, bounded, end_of, told, world

ASKER = Agent("asker", tools=["AskUser"])

COLOUR = Call("AskUser", {"question": "Which colour?", "choices": ["red", "blue"]})
SIZE = Call("AskUser", {"question": "Which size?"})


def asking(*more: Call) -> ScriptedModel:
    return ScriptedModel(Say(calls=(COLOUR, *more)), Say("So be it."))


async def asked(here: World, run_id: str) -> str:
    return str((await here.until(run_id, "question")).data)


async def results(here: World) -> list[str]:
    return [message["content"] for message in await here.messages() if message["role"] == "tool"]


async def test_a_question_waits_for_its_answer_which_the_model_gets_as_the_users_words(store: str) -> None:
    async with world(asking(), store=store, agents=[ASKER]) as here:
        run_id = await here.send()
        question = await here.until(run_id, "question")
        await here.stands(run_id, "waiting_approval")
        assert (question.question, question.choices, question.tool_calls) == ("Which colour?", ("red", "blue"), None)
        (listed,) = await here.parts.lookup.approvals(ME)
        assert (listed["question"], listed["choices"], listed["reason"]) == (
            *("Which colour?", ["red", "blue"]),
            "question",
        )
        view = await here.runtime.answer(str(question.data), "green, please")
        assert (view["decision"], view["answer"]) == ("answered", "green, please")
        assert await here.runtime.answer(str(question.data), "green, please") == view
        with pytest.raises(Conflict, match="answered before"):
            await here.runtime.answer(str(question.data), "red")
        with pytest.raises(Conflict, match="answered before"):
            await here.decide(str(question.data), approve=False)
        events = await here.events(run_id)
        assert told(events) == snapshot(
            [
                "run_started",
                'tool_call AskUser{"question":"Which colour?","choices":["red","blue"]}',
                "question",
                "approval_resolved answered",
                "tool_started AskUser",
                """\
tool_result AskUser: The user answered:
green, please\
""",
                "token So be it.",
                "finish stop",
            ]
        )
        assert_valid_wire(await here.messages())
        assert await here.parts.lookup.approvals(ME) == []


async def test_a_question_is_answered_after_a_restart(sqlite: str) -> None:
    async with world(ScriptedModel(COLOUR), store=sqlite, agents=[ASKER]) as here:
        run_id = await here.send()
        request_id = await asked(here, run_id)
        await here.stands(run_id, "waiting_approval")
    async with world(ScriptedModel(Say("Blue it is.")), store=sqlite, agents=[ASKER]) as here:
        await here.runtime.answer(request_id, "blue")
        assert end_of(await here.events(run_id)) == ("finish", "stop")
        assert await results(here) == ["The user answered:\nblue"]


async def test_it_is_a_built_in_tool_for_rules_too(store: str) -> None:
    rules = [{"deny": "source:builtin", "roles": ["nobody"]}, {"deny": "source:builtin", "when": "true"}]
    async with world(asking(), store=store, agents=[ASKER], policy={"rules": rules}) as here:
        assert end_of(await here.events(await here.send())) == ("finish", "stop")
        (said,) = await results(here)
        assert said.startswith("Not run: a rule denies 'AskUser'")


async def test_a_user_who_does_not_want_to_answer_says_so(store: str) -> None:
    async with world(asking(), store=store, agents=[ASKER]) as here:
        run_id = await here.send()
        await here.runtime.decline(await asked(here, run_id), comment="ask Bob")
        assert "approval_resolved declined" in told(await here.events(run_id))
        assert await results(here) == [f"{UNANSWERED['declined']} They said: ask Bob"]


async def test_a_question_that_nobody_answers_expires_and_a_later_answer_is_too_late(store: str) -> None:
    clock = FakeClock()
    async with world(asking(), store=store, clock=clock, agents=[ASKER]) as here:
        run_id = await here.send()
        request_id = await asked(here, run_id)
        await here.stands(run_id, "waiting_approval")
        clock.move(301)
        assert "approval_resolved expired" in told(await here.events(run_id))
        assert await results(here) == [UNANSWERED["expired"]]
        with pytest.raises(Conflict, match="expired before"):
            await here.runtime.answer(request_id, "blue")


@pytest.mark.parametrize("end", ["cancelled", "superseded"])
async def test_a_question_ends_with_its_run(store: str, end: str) -> None:
    async with world(ScriptedModel(COLOUR, Say("Next.")), store=store, agents=[ASKER]) as here:
        run_id = await here.send()
        request_id = await asked(here, run_id)
        await here.stands(run_id, "waiting_approval")
        if end == "cancelled":
            await here.cancel(run_id)
        else:
            await here.ask("Never mind.")
        events = await here.events(run_id)
        assert end_of(events) == ("finish", "cancelled")
        assert f"approval_resolved {end}" in told(events)
        with pytest.raises(Conflict, match=f"{end} before"):
            await here.runtime.answer(request_id, "blue")
        assert_valid_wire(await here.messages())


@pytest.mark.parametrize("ticks", range(10))
async def test_an_answer_as_the_run_is_cancelled_is_in_force_or_refused_never_both(ticks: int) -> None:
    async with world(ScriptedModel(COLOUR, Say("So.", chunk=1)), agents=[ASKER]) as here:
        run_id = await here.send()
        request_id = await asked(here, run_id)
        cancelling = asyncio.ensure_future(here.cancel(run_id))
        for _ in range(ticks):
            await asyncio.sleep(0)
        try:
            outcome = (await here.runtime.answer(request_id, "blue"))["decision"]
        except Conflict:
            outcome = "cancelled"
        await bounded(cancelling)
        resolved = [line for line in told(await here.events(run_id)) if line.startswith("approval_resolved")]
        assert resolved == [f"approval_resolved {outcome}"]
        assert_valid_wire(await here.messages())


async def test_what_is_no_answer_to_a_question_is_refused_and_decides_nothing(store: str) -> None:
    async with world(asking(), store=store, agents=[ASKER]) as here:
        request_id = await asked(here, await here.send())
        wrong: list[dict[str, Any]] = [
            {},
            {"answer": " \n"},
            {"answer": "x" * (LONGEST_ANSWER + 1)},
            {"arguments": {"question": "Which?"}},
            {"answer": "x", "arguments": {"question": "Which?"}},
            {"answer": "x", "remember": True},
            {"answer": "x", "approve": False},
        ]
        for each in wrong:
            with pytest.raises(InvalidRequest):
                await here.decide(request_id, **each)
        with pytest.raises(NotFound):
            await here.runtime.answer(request_id, "x", principal=Principal(user="mallory"))
        assert len(await here.parts.lookup.approvals(ME)) == 1


async def test_consent_to_a_call_takes_no_answer() -> None:
    shop = Shop()
    async with world(ScriptedModel(Call("refund"), Say("No.")), tools=shop.tools) as here:
        request_id = await here.question(await here.send())
        with pytest.raises(InvalidRequest, match="takes no answer"):
            await here.runtime.answer(request_id, "yes")
        assert len(await here.parts.lookup.approvals(ME)) == 1
    assert shop.done == []


async def test_consent_is_not_asked_for_as_well_and_each_question_is_asked() -> None:
    config: dict[str, Any] = {"approval": {"requiredTools": ["AskUser"]}}
    async with world(ScriptedModel(COLOUR, SIZE, Say("On.")), **config, agents=[ASKER]) as here:
        run_id = await here.send()
        questions: list[str | None] = []
        async for event in here.follow(run_id):
            assert event.type != "approval_request"
            if event.type == "question":
                questions.append(event.question)
                await here.runtime.answer(str(event.data), "blue")
        assert questions == ["Which colour?", "Which size?"]


# In a round with other calls


async def test_beside_a_question_safe_calls_run_and_those_with_side_effects_wait_behind_it(store: str) -> None:
    shop = Shop()
    model = ScriptedModel(
        Say(calls=(Call("sell", {"what": "a"}), COLOUR, Call("look"), Call("sell", {"what": "b"}))), Say("On.")
    )
    async with world(model, tools=shop.tools, store=store) as here:
        run_id = await here.send()
        request_id = await asked(here, run_id)
        await here.stands(run_id, "waiting_approval")
        assert sorted(shop.done) == ["look shelf", "sell a"]
        await here.runtime.answer(request_id, "blue")
        assert end_of(await here.events(run_id)) == ("finish", "stop")
        assert (await results(here))[1] == "The user answered:\nblue"
        assert_valid_wire(await here.messages())
    assert shop.done[2:] == ["sell b"]


async def test_a_question_behind_a_call_that_waits_for_consent_is_asked_at_once_and_its_answer_kept(
    sqlite: str,
) -> None:
    shop = Shop()
    script = Say(calls=(Call("refund"), COLOUR))
    async with world(ScriptedModel(script), tools=shop.tools, store=sqlite) as here:
        run_id = await here.send()
        await here.runtime.answer(await asked(here, run_id), "blue")
        await here.stands(run_id, "waiting_approval")
    async with world(ScriptedModel(Say("On.")), tools=shop.tools, store=sqlite) as here:
        await here.decide(await here.question(run_id))
        assert end_of(await here.events(run_id)) == ("finish", "stop")
        assert await results(here) == ["paid 1", "The user answered:\nblue"]
    assert shop.done == ["refund 1"]


async def test_two_questions_of_a_round_are_asked_at_once_and_answered_in_any_order(store: str) -> None:
    async with world(asking(SIZE), store=store, agents=[ASKER]) as here:
        run_id = await here.send()
        await here.stands(run_id, "waiting_approval")
        ids = {each["question"]: each["requestId"] for each in await here.parts.lookup.approvals(ME)}
        await here.runtime.answer(ids["Which size?"], "large")
        await here.stands(run_id, "waiting_approval")
        await here.runtime.answer(ids["Which colour?"], "blue")
        assert end_of(await here.events(run_id)) == ("finish", "stop")
        assert await results(here) == ["The user answered:\nblue", "The user answered:\nlarge"]


# What an answer may hold


async def test_an_answer_that_is_too_long_for_the_model_can_be_recalled() -> None:
    model = ScriptedModel(COLOUR, Call(RECALL, {"call_id": "scripted_1", "offset": 60_010, "limit": 50}), Say("On."))
    async with world(model, agents=[ASKER]) as here:
        run_id = await here.send()
        await here.runtime.answer(await asked(here, run_id), "x" * 60_000 + "blue" + "y" * 30_000)
        await here.events(run_id)
        short, read = await results(here)
    assert len(short) < 21_000
    assert "blue" in read


async def test_what_no_store_can_hold_is_replaced_in_an_answer(store: str) -> None:
    async with world(asking(), store=store, agents=[ASKER]) as here:
        run_id = await here.send()
        view = await here.runtime.answer(await asked(here, run_id), "a\x00b\ud800c\ud83d\ude00")
        assert view["answer"] == "a\ufffdb\ufffdc\U0001f600"
        await here.events(run_id)
        assert await results(here) == ["The user answered:\na\ufffdb\ufffdc\U0001f600"]


async def test_a_secret_of_the_request_in_an_answer_is_masked_before_it_is_on_record(store: str) -> None:
    async with world(asking(), store=store, agents=[ASKER]) as here:
        run_id = await here.send(tool_context={"apiKey": "tr0ub4dor-and-3"})
        said: dict[str, Any] = {"answer": "it is tr0ub4dor-and-3", "comment": "as in tr0ub4dor-and-3"}
        view = await here.decide(await asked(here, run_id), **said)
        assert (view["answer"], view["comment"]) == (f"it is {MASK}", f"as in {MASK}")
        await here.events(run_id)
        (made,) = [each for each in await here.entries() if isinstance(each, ApprovalResolved)]
        assert (made.answer, made.comment) == (f"it is {MASK}", f"as in {MASK}")
        assert await results(here) == [f"The user answered:\nit is {MASK}"]


# Who has it


async def test_agents_have_it_that_name_it_or_have_all_tools_and_requests_can_leave_it_out() -> None:
    agents = [Agent("named", tools=["AskUser"]), Agent("all"), Agent("other", tools=["look"])]
    model = ScriptedModel(*[Say("So.")] * 4)
    async with world(model, tools=Shop().tools, agents=agents, limits={"recall": False}) as here:
        for agent in ("named", "all", "other"):
            await here.ask(agent=agent)
        await here.ask(agent="all", tools=["look"])
    offered = [{spec.name for spec in request.prompt.tools} for request in model.requests]
    assert ["AskUser" in names for names in offered] == [True, True, False, False]
