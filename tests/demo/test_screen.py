"""What the demo shows: styled on a terminal that wants it, plain elsewhere, and the same words in both."""

import io
import re

from talaria.demo.screen import Screen, short, wants_style
from talaria.demo.show import Show
from talaria.demo.transcript import Event

PAGE = '{"page": 1, "pages": 2, "items": [{"severity": "critical", "title": "5xx rate above 10%"}]}'
EVENTS = (
    Event("r/1", "reasoning", {"data": "Let me "}),
    Event("r/2", "reasoning", {"data": "see."}),
    Event("r/3", "token", {"data": "I look."}),
    Event("r/4", "tool_call", {"toolCalls": [{"id": "a", "name": "query_alerts", "arguments": '{"page": 1}'}]}),
    Event(
        "r/5", "tool_result", {"toolResults": [{"id": "a", "name": "query_alerts", "result": PAGE, "durationMs": 7}]}
    ),
    Event("r/6", "tool_result", {"toolResults": [{"id": "b", "name": "lost", "result": "no\nway", "isError": True}]}),
    Event("r/7", "token", {"data": "Done."}),
)
PLAIN = """\
(reasoning) Let me see.

I look.
  1 tool call at once
  ╭ query_alerts(page=1)
  ╰ ✓ 7 ms · page 1 of 2, 1 records: critical 5xx rate above 10%
  ╭ lost
  ╰ ✗ 0 ms · no way
Done.
── connection lost ──
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(*, styled: bool) -> str:
    out = io.StringIO()
    show = Show(Screen(out, styled=styled))
    for event in EVENTS:
        show.event(event)
    show.connection("connection lost")
    return out.getvalue()


def test_where_there_is_no_terminal_it_is_plain() -> None:
    assert shown(styled=False) == PLAIN


def test_on_a_terminal_it_says_the_same_with_reasoning_dim() -> None:
    styled = shown(styled=True)
    assert "\x1b[2mLet me \x1b[0m" in styled
    assert re.sub(r"\x1b\[\d+m", "", styled) == PLAIN.replace("(reasoning) ", "")


def test_colours_are_for_terminals_that_want_them() -> None:
    assert wants_style(Terminal(), {"TERM": "xterm"})
    assert not wants_style(Terminal(), {"TERM": "xterm", "NO_COLOR": "1"})
    assert not wants_style(Terminal(), {"TERM": "dumb"})
    assert not wants_style(io.StringIO(), {"TERM": "xterm"})


def test_a_long_line_is_cut_to_its_limit() -> None:
    assert short("a  b\nc", 10) == "a b c"
    assert short("abcdefghij", 5) == "abcd…"
