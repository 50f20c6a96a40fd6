"""Turns as blocks, and how they look: rewinds, parallel calls, subagents, ends."""

from typing import Any

from inline_snapshot import snapshot
from rich.console import Console

from talaria.cli.chat.blocks import Block, Said
from talaria.cli.chat.draw import Moment, draw
from talaria.cli.chat.events import Event, EventParser
from talaria.cli.chat.past import blocks_of, recent
from talaria.cli.chat.turn import Turn


def events(*bodies: dict[str, Any]) -> list[Event]:
    """Events one second apart, with ids r/1, r/2, …"""
    return [Event(f"r/{n}", str(body["type"]), body, float(n)) for n, body in enumerate(bodies, 1)]


def token(text: str) -> dict[str, Any]:
    return {"type": "token", "data": text}


def call(*ids: str) -> dict[str, Any]:
    return {
        "type": "tool_call",
        "toolCalls": [{"id": id_, "name": "look_up", "arguments": '{"order":"42"}'} for id_ in ids],
    }


def result(id_: str, text: str, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "toolResults": [{"id": id_, "name": "look_up", "result": text} | fields]}


def picture(blocks: list[Block], moment: Moment | None = None, width: int = 60) -> str:
    console = Console(width=width, color_system=None, force_terminal=False, record=False)
    with console.capture() as captured:
        console.print(draw(blocks, moment or Moment()))
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def shown(*bodies: dict[str, Any], moment: Moment | None = None, width: int = 60) -> str:
    turn = Turn()
    for event in events(*bodies):
        turn.take(event)
    return picture(turn.blocks, moment, width)


def test_a_whole_turn() -> None:
    assert shown(
        {"type": "run_started", "data": "r", "sessionId": "s"},
        {"type": "reasoning", "data": "Which "},
        {"type": "reasoning", "data": "order?"},
        token("# Look\n\nI **look** it up:\n\n1. one\n2. two"),
        call("a", "b"),
        {"type": "tool_started", "toolCalls": [{"id": "a", "name": "look_up"}]},
        result("b", "no such order", isError=True, durationMs=12),
        result("a", "one\ntwo\nthree\nfour\nfive\nsix", durationMs=1234),
        token("Done."),
        {"type": "finish", "reason": "stop", "usage": {"inputTokens": 1200, "outputTokens": 40, "cost": 0.0123}},
    ) == snapshot("""\
▸ thought for 1.0 s · 12 characters · /reasoning shows it
Look

I look it up:

 1 one
 2 two

● look_up order="42"
  ✓ 1.2 s · one
    two
    three
    four
    … 2 more lines
● look_up order="42"
  ✗ 12 ms · no such order
Done.

1,200 tokens in · 40 out · cost 0.0123\
""")


def test_what_goes_on_shows_its_time_and_a_sign_of_life() -> None:
    assert shown(
        call("a"),
        {"type": "tool_started", "toolCalls": [{"id": "a", "name": "look_up"}]},
        {"type": "tool_output", "data": "row 1\nrow 2\n", "toolCallId": "a"},
        {"type": "reasoning", "data": "And so on\nand on"},
        moment=Moment(now=5.0, is_live=True),
    ) == snapshot("""\
● look_up order="42"
  row 1
  row 2
  runs · 3.0 s
▾ thinking
  And so on
  and on
⠋ Ctrl-C cancels\
""")


def test_long_lines_and_wide_characters_keep_to_the_width() -> None:
    text = shown(
        {
            "type": "tool_call",
            "toolCalls": [{"id": "a", "name": "搜索", "arguments": '{"词": "' + "很长的中文" * 20 + '"}'}],
        },
        result("a", "结果很长" * 80),
        width=40,
    )
    assert max(sum(2 if ord(char) > 0x2E80 else 1 for char in line) for line in text.splitlines()) <= 40
    assert text == snapshot("""\
● 搜索 词="很长的中文很长的中文很长的中…
  ✓ 结果很长结果很长结果很长结果很长结果
    很长结果很长结果很长结果很长结果很长
    结果很长结果很长结果很长结果很长结果
    很长结果很长结果很长结果很长结果很长
    … 14 more lines\
""")


def test_text_after_a_rewind_replaces_what_was_said() -> None:
    turn = Turn()
    for event in events(token("One "), token("two "), token("thre"), {"type": "rewind", "data": "r/1"}, token("three")):
        turn.take(event)
    assert [block.text for block in turn.blocks if isinstance(block, Said)] == ["One three"]


def test_text_is_certain_only_once_a_call_or_the_end_stands_behind_it() -> None:
    turn = Turn()
    one, called, ended, rest = events(token("One"), call("a"), result("a", "x"), token("Two"))
    turn.take(one)
    assert turn.settle() == []
    turn.take(called)
    assert [type(block).__name__ for block in turn.settle()] == ["Said"]
    turn.take(ended)
    turn.take(rest)
    assert [type(block).__name__ for block in turn.settle()] == ["Called"]


def test_a_rewind_behind_what_is_on_paper_says_so() -> None:
    turn = Turn()
    given = events({"type": "run_started", "data": "r"}, token("One"), call("a"), {"type": "rewind", "data": "r/1"})
    for event in given[:3]:
        turn.take(event)
    assert [type(block).__name__ for block in turn.settle()] == ["Said"]
    turn.take(given[3])
    assert picture(turn.blocks).endswith("· some of the text above is said again")


def test_a_notice_does_not_cut_a_text_in_two() -> None:
    assert shown(
        token("**bo"), {"type": "notice", "reason": "retrying", "data": "asked again"}, token("ld**")
    ) == snapshot("""\
· asked again
bold
""")


def test_subagents_are_folded_to_a_line_and_their_questions_are_asked() -> None:
    base = {"name": "researcher", "taskId": "t"}
    turn = Turn()
    given = events(
        base | call("x") | {"type": "subagent_tool_call", "name": "researcher"},
        base | {"type": "subagent_approval_request", "data": "ask_1", "toolCalls": [{"id": "x", "name": "look_up"}]},
        base | {"type": "subagent_token", "data": "secret musings"},
    )
    for event in given:
        turn.take(event)
    (question,) = turn.questions.values()
    assert (question.id, question.who) == ("ask_1", "researcher")
    running = picture(turn.blocks)
    turn.take(Event("r/9", "subagent_finish", base | {"reason": "stop"}))
    assert (running, picture(turn.blocks), turn.settle() != []) == snapshot(
        ("◇ researcher · 1 call · secret musings", "◇ researcher · 1 call · done", True)
    )


def test_a_question_of_the_model_has_choices() -> None:
    turn = Turn()
    body = {"type": "question", "data": "ask_1", "question": "Which?", "choices": ["a", "b"]}
    turn.take(events(body)[0])
    assert [(each.text, each.choices) for each in turn.questions.values()] == [("Which?", ("a", "b"))]
    turn.take(events({"type": "approval_resolved", "data": "ask_1", "reason": "answered"})[0])
    assert turn.questions == {}


def test_ends_other_than_an_answer_are_said() -> None:
    ends = [
        {"type": "finish", "reason": reason}
        for reason in ("stop", "length", "content_filter", "toolCallLimitExceeded", "cancelled", "brand_new")
    ]
    assert [
        shown(each) for each in [*ends, {"type": "error", "data": "no route", "reason": "model_unavailable"}]
    ] == snapshot(
        [
            "",
            "■ the answer was cut off: it reached the model's limit",
            "■ the provider's filter stopped the answer",
            "■ stopped: the turn may make no more tool calls",
            "■ cancelled",
            "■ stopped: brand_new",
            "✗ no route (model_unavailable)",
        ]
    )


def test_unknown_types_and_heartbeats_show_nothing() -> None:
    assert shown({"type": "heartbeat"}, {"type": "brand_new", "data": {"x": 1}}, {"type": "run_started"}) == ""


def test_a_past_session_looks_as_it_did() -> None:
    messages = [
        {"role": "user", "content": "Old"},
        {"role": "assistant", "content": "Gone"},
        *[{"role": "user", "content": "More"}, {"role": "assistant", "content": "Yes"}] * 5,
        {"role": "user", "content": "Look"},
        {"role": "assistant", "content": "", "toolCalls": [{"id": "a", "name": "look_up", "arguments": "{}"}]},
        {"role": "tool", "content": "40 EUR", "toolCallId": "a"},
    ]
    before, rest = recent(messages, is_active=False)
    assert (before, picture(blocks_of(rest[-3:]))) == snapshot(
        (
            2,
            """\
› Look
● look_up
  ✓ 40 EUR\
""",
        )
    )
    assert recent(messages, is_active=True)[1][-1] == {"role": "user", "content": "Look"}


def test_a_stream_may_be_cut_anywhere() -> None:
    data = 'id: r/1\ndata: {"type":"token","data":"茶\\n"}\n\ndata: {"type":"heartbeat"}\n\n'.encode()
    whole = EventParser().feed(data, 1.0)
    for at in range(len(data)):
        parser = EventParser()
        assert parser.feed(data[:at], 1.0) + parser.feed(data[at:], 1.0) == whole
    assert [(event.id, event.type) for event in whole] == [("r/1", "token"), ("", "heartbeat")]


def test_a_plan_is_a_list_in_the_place_of_the_call_that_changed_it() -> None:
    steps = [
        {"content": "Read the orders", "status": "completed"},
        {"content": "Add them up", "activeForm": "Adding them\nup \x1b[31m", "status": "in_progress"},
        {"content": "Tell", "status": "pending"},
    ]
    assert shown(
        {"type": "tool_call", "toolCalls": [{"id": "a", "name": "TodoWrite", "arguments": '{"todos":[]}'}]},
        {"type": "todo", "data": steps, "toolCallId": "a"},
        {"type": "tool_result", "toolResults": [{"id": "a", "name": "TodoWrite", "result": "[Plan: …]"}]},
    ) == snapshot("""\
● Plan · 1 of 3 done
  ✓ Read the orders
  ▸ Adding them up [31m
  ○ Tell\
""")
