"""Cards of tool calls: what was asked, how it goes, what came of it."""

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.syntax import Syntax
from rich.text import Text

from talaria.cli.chat import words
from talaria.cli.chat.blocks import Called

RESULT_LINES = 4
ARGUMENT_LINES = 30
_DECIDED = {
    "approved": "approved",
    "edited": "approved, with other arguments",
    "declined": "declined",
    "expired": "nobody answered in time",
    "superseded": "given up for a new message",
    "cancelled": "cancelled",
    "answered": "answered",
}


class Lines:
    """Text of which only the first `most` lines are shown, counted as wide as the terminal is."""

    def __init__(self, text: Text, most: int) -> None:
        self._text = text
        self._most = most

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines."""
        lines = self._text.wrap(console, options.max_width)
        for line in lines[: self._most]:
            yield from line.render(console, end="\n")
        if len(lines) > self._most:
            yield Segment(f"  … {len(lines) - self._most} more lines\n", console.get_style("dim"))


def head(call: Called) -> str:
    """A call on one line."""
    return f"{words.one_line(call.name)} {words.arguments(call.arguments)}".strip()


def card(call: Called, now: float) -> RenderableType:
    """A call as it stands."""
    first = Text("● ", _colour(call), no_wrap=True, overflow="ellipsis")
    first.append(words.one_line(call.name), "bold")
    first.append(f" {words.arguments(call.arguments)}", "default")
    rest = Text("\n").join([first, *_below(call, now)])
    return Lines(rest, 1 + RESULT_LINES) if call.result is not None else rest


def _below(call: Called, now: float) -> list[Text]:
    lines = [Text(f"  {_DECIDED.get(call.decision, call.decision)}", "yellow")] if call.decision else []
    if call.result is None:
        lines += [Text(f"  {line}", "dim") for line in words.clean(call.output).rstrip().split("\n")[-3:] if line]
        return [*lines, Text(f"  {_state(call, now)}", "yellow" if call.is_asked else "dim")]
    took = "" if call.seconds is None else f"{words.duration(call.seconds)} · "
    text = words.clean(call.result).strip() or "no result"
    mark = Text("  ✗ " if call.is_error else "  ✓ ", "red" if call.is_error else "green")
    return [*lines, mark.append(f"{took}{text}".replace("\n", "\n    "), "dim")]


def _state(call: Called, now: float) -> str:
    if call.is_asked:
        return "waits for an answer"
    if call.started is None:
        return "is to run"
    return f"runs · {words.duration(max(0.0, now - call.started))}"


def _colour(call: Called) -> str:
    if call.result is None:
        return "yellow"
    return "red" if call.is_error else "green"


def whole(call: Called) -> RenderableType:
    """A call with all its arguments, for somebody who has to decide about it."""
    lines = words.clean(words.pretty(call.arguments)).split("\n")
    rest = len(lines) - ARGUMENT_LINES
    shown = lines[:ARGUMENT_LINES] + ([f"… {rest} more lines: e shows them all"] if rest > 0 else [])
    return Syntax("\n".join(shown), "json", theme="ansi_dark", word_wrap=True, background_color="default")
