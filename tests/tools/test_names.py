"""Names in calls: other spellings of a tool's name, names that no tool has, ids that are not unique."""

from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria import tool
from talaria.core.messages import AssistantMessage
from talaria.journal.entries import ModelFinished, ToolFinished, ToolStarted
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from talaria.tools.declaration import Tool
from talaria.tools.nearest import meant
from tests.runtime.world import World, end_of, world


@tool(side_effects=False)
async def write(path: str, n: int = 1) -> str:
    """Write a file."""
    return f"{path} × {n}"


@tool
async def look_up(what: str) -> str:
    """Look something up."""
    return what


OTHERS = [Tool("Read", "Read.", {"type": "object"}, lambda: "read"), look_up, write]


@pytest.mark.parametrize(
    "name",
    [
        *("Write", "WRITE", " write\n", "`write`", '"write"', "functions.write", "functions.Write", "function:write"),
        *("tools.write", "default_api.write", "write()", "write:0", "functions.write:12", "write<|channel|>commentary"),
    ],
)
def test_another_spelling_of_one_name_is_known(name: str) -> None:
    assert meant(name, ["write", "read"]) == "write"


@pytest.mark.parametrize("name", ["look up", "look-up", "Look_Up", "LOOK-UP"])
def test_spaces_and_dashes_may_stand_for_underscores(name: str) -> None:
    assert meant(name, ["look_up", "look"]) == "look_up"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "wri",
        "writes",
        "write_file",
        "email.write",
        "a.functions.write",
        "write read",
        "writeread",
        "write;rm",
        "写",
    ],
)
def test_no_name_is_guessed(name: str) -> None:
    assert meant(name, ["write", "read"]) is None


def test_of_two_names_that_are_spelt_alike_neither_is_meant() -> None:
    assert meant("A B", ["a-b", "a_b"]) is None


async def answers(here: World) -> list[Any]:
    return [message["content"] for message in await here.messages() if message["role"] == "tool"]


async def test_calls_in_other_spellings_run_under_the_tools_name_and_say_so_on_record() -> None:
    calls = (
        Call("functions.write", {"path": "b"}),
        Call("Write", {"path": "c", "n": "2"}),
        Call("look up", {"what": "d"}),
    )
    model = ScriptedModel(Say(calls=calls), Say("Done."))
    async with world(model, tools=OTHERS) as here:
        events = await here.ask()
        assert await answers(here) == ["b × 1", "c × 2", "d"]
        entries = await here.entries()
    told = [call.name for event in events if event.type == "tool_call" for call in event.tool_calls or ()]
    assert told == ["write", "write", "look_up"]
    repairs = {entry.call_id: entry.repairs for entry in entries if isinstance(entry, ToolStarted)}
    assert list(repairs.values()) == [
        ("name: functions.write to write",),
        ("name: Write to write", "n: string to integer"),
        ("name: look up to look_up",),
    ]
    said = next(entry.message for entry in entries if isinstance(entry, ModelFinished))
    assert [call.written for call in said.calls] == ["functions.write", "Write", "look up"]
    sent = next(each for each in model.prompts[1] if isinstance(each, AssistantMessage))
    assert [call.name for call in sent.calls] == ["write", "write", "look_up"]


async def test_a_spelling_does_not_get_around_the_limit_of_calls_of_one_tool() -> None:
    calls = tuple(Call(name, {"path": "a"}) for name in ("write", "Write", "functions.write"))
    async with world(
        ScriptedModel(Say(calls=calls), Say("Done.")), tools=OTHERS, limits={"maxCallsPerTool": 2}
    ) as here:
        assert end_of(await here.ask()) == ("finish", "toolCallLimitExceeded")
        assert [text.startswith("Not run:") for text in await answers(here)] == [False, False, True]


async def test_a_spelling_does_not_get_around_consent() -> None:
    asks = Tool("pay", "Pay.", {"type": "object"}, lambda: "paid", approval=True)
    async with world(ScriptedModel(Say(calls=(Call("functions.Pay"),)), Say("Done.")), tools=[asks]) as here:
        run_id = await here.send()
        await here.decide(await here.question(run_id), approve=False)
        await here.events(run_id)
        assert "paid" not in await answers(here)


async def test_a_name_that_no_tool_has_is_answered_with_the_nearest() -> None:
    calls = (Call("wirte", {}), Call("email.write", {"path": "a"}), Call("x" * 200, {}))
    async with world(ScriptedModel(Say(calls=calls), Say("Done.")), tools=OTHERS) as here:
        await here.ask(tools=[each.name for each in OTHERS])
        texts = await answers(here)
    assert texts[:2] == snapshot(
        [
            "no tool named 'wirte'; there are 'Read', 'look_up', 'write', 'recall'; did you mean 'write'?",
            "no tool named 'email.write'; there are 'Read', 'look_up', 'write', 'recall'; did you mean 'write'?",
        ]
    )
    assert len(texts[2]) < 200


async def test_two_calls_with_one_id_both_run_and_are_told_apart() -> None:
    calls = (Call("write", {"path": "a"}, id="same"), Call("write", {"path": "b"}, id="same"))
    again = (Call("write", {"path": "c"}, id="same"),)
    model = ScriptedModel(Say(calls=calls), Say(calls=again), Say("Done."))
    async with world(model, tools=OTHERS) as here:
        events = await here.ask()
        assert await answers(here) == ["a × 1", "b × 1", "c × 1"]
    ids = [call.id for event in events if event.type == "tool_call" for call in event.tool_calls or ()]
    assert ids[0] == "same"
    assert len(set(ids)) == 3
    results = [(each.id, each.result) for event in events for each in event.tool_results or ()]
    assert sorted(results) == sorted(zip(ids, ["a × 1", "b × 1", "c × 1"], strict=True))


async def test_every_call_of_a_mixed_round_has_one_answer_in_order_and_the_good_ones_run() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "n": {"type": "integer"},
            "deep": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "note": {"type": ["string", "null"]},
        },
        "required": ["path"],
        "additionalProperties": False,
    }
    ran: list[dict[str, Any]] = []

    def put(**values: Any) -> str:
        ran.append(values)
        return "written"

    given = (
        Call("write", {"path": "a", "n": "5", "deep": "false", "tags": '["x"]', "note": "null"}),
        Call("write", '{"path": "a", "n": 5.0}'),
        Call("write", {"path": "a", "n": 5.5}),
        Call("write", {"path": "a", "deep": "yes"}),
        Call("write", {"path": "a", "evil": 1}),
        Call("functions.write", {"path": "b"}),
        Call("Write", {"path": "b"}),
        Call("rm", {}),
        Call("write", {"path": None}),
    )
    async with world(
        ScriptedModel(Say(calls=given), Say("Done.")), tools=[Tool("write", "Write.", schema, put)]
    ) as here:
        assert end_of(await here.ask()) == ("finish", "stop")
        messages = [message for message in await here.messages() if message["role"] == "tool"]
    assert [message["toolCallId"] for message in messages] == [f"scripted_{number}" for number in range(1, 10)]
    said = [str(message["content"]).splitlines()[-1] for message in messages]
    assert said == snapshot(
        [
            "written",
            "written",
            "- n: expected integer, got 5.5",
            '- deep: expected boolean, got "yes"',
            "- evil: there is no such field; there are 'path', 'n', 'deep', 'tags', 'note'",
            "written",
            "written",
            "no tool named 'rm'; there are 'write', 'AskUser', 'recall'",
            "- path: expected string, got null",
        ]
    )
    assert ran == [
        {"path": "a", "n": 5, "deep": False, "tags": ["x"], "note": "null"},
        {"path": "a", "n": 5},
        {"path": "b"},
        {"path": "b"},
    ]


WRONG = Say(calls=(Call("write", {}), Call("rm", {})))


async def test_three_rounds_of_invalid_calls_in_a_row_end_the_run() -> None:
    model = ScriptedModel(WRONG, WRONG, WRONG)
    async with world(model, tools=OTHERS) as here:
        events = await here.ask()
        entries = await here.entries()
    assert end_of(events) == ("error", "output_invalid")
    assert "3 rounds" in str(events[-1].data)
    assert {entry.outcome for entry in entries if isinstance(entry, ToolFinished)} == {"invalid"}
    model.check()


async def test_one_valid_call_begins_the_count_anew() -> None:
    mixed = Say(calls=(Call("write", {"path": "a"}), Call("rm", {})))
    model = ScriptedModel(WRONG, WRONG, mixed, WRONG, WRONG, Say("I give up."))
    async with world(model, tools=OTHERS) as here:
        assert end_of(await here.ask()) == ("finish", "stop")
    model.check()


async def test_how_many_rounds_is_the_limit_of_repairs() -> None:
    model = ScriptedModel(WRONG, WRONG)
    async with world(model, tools=OTHERS, limits={"outputRepairs": 1}) as here:
        assert end_of(await here.ask()) == ("error", "output_invalid")
    model.check()
