"""Cards of tool calls: what was asked, how it goes, what came of it."""

from rich.cells import chop_cells
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
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


_MARKS = {"completed": ("  ✓ ", "green"), "in_progress": ("  ▸ ", "cyan"), "pending": ("  ○ ", "dim")}


class Result:
    """What a call gave: a mark, and the first lines of a text, cut where the terminal ends."""

    def __init__(self, mark: Text, text: str) -> None:
        self._mark = mark
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines."""
        room = max(10, options.max_width - 4)
        lines = [part for line in self._text.split("\n") for part in chop_cells(line.expandtabs(4), room) or [""]]
        for number, line in enumerate(lines[:RESULT_LINES]):
            yield Text.assemble("    " if number else self._mark, (line, "dim"))
        if len(lines) > RESULT_LINES:
            yield Text(f"    … {len(lines) - RESULT_LINES} more lines", "dim")


def head(call: Called) -> str:
    """A call on one line."""
    return f"{words.one_line(call.name)} {words.arguments(call.arguments)}".strip()


def card(call: Called, now: float) -> RenderableType:
    """A call as it stands; one that changed the plan as the plan."""
    if call.plan is not None and not call.is_error:
        return _plan(call.plan)
    first = Text("● ", _colour(call), no_wrap=True, overflow="ellipsis")
    first.append(words.one_line(call.name), "bold")
    first.append(f" {words.arguments(call.arguments)}", "default")
    decided = [Text(f"  {_DECIDED.get(call.decision, call.decision)}", "yellow")] if call.decision else []
    return Group(first, *decided, *(_unfinished(call, now) if call.result is None else [_result(call, call.result)]))


def _plan(plan: tuple[tuple[str, str], ...]) -> RenderableType:
    done = sum(status == "completed" for status, _ in plan)
    first = Text.assemble(("● ", "cyan"), ("Plan", "bold"), (f" · {done} of {len(plan)} done", "dim"))
    lines = [Text.assemble(_MARKS.get(status, _MARKS["pending"]), words.one_line(step)) for status, step in plan]
    for line, (status, _) in zip(lines, plan, strict=True):
        line.no_wrap, line.overflow = True, "ellipsis"
        line.stylize({"completed": "dim", "in_progress": "bold"}.get(status, ""))
    return Group(first, *lines)


def _unfinished(call: Called, now: float) -> list[Text]:
    said = [line for line in words.clean(call.output).rstrip().split("\n")[-3:] if line]
    return [
        *(Text(f"  {line}", "dim") for line in said),
        Text(f"  {_state(call, now)}", "yellow" if call.is_asked else "dim"),
    ]


def _result(call: Called, result: str) -> Result:
    took = "" if call.seconds is None else f"{words.duration(call.seconds)} · "
    mark = Text("  ✗ ", "red") if call.is_error else Text("  ✓ ", "green")
    return Result(mark, took + (words.clean(result).strip() or "no result"))


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
