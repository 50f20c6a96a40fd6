"""How blocks look: pure functions from blocks to what rich can print."""

from dataclasses import dataclass
from typing import ClassVar, assert_never

from rich.console import Group, JustifyMethod, RenderableType
from rich.markdown import Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.text import Text

from talaria.cli.chat import words
from talaria.cli.chat.blocks import Asked, Block, Called, Delegated, Ended, Noticed, Said, Thought
from talaria.cli.chat.cards import card, head

TAIL = 6
"""Lines of reasoning that are shown while it streams."""

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@dataclass(frozen=True, slots=True)
class Moment:
    """When it is drawn (seconds), and whether the last block still grows."""

    now: float = 0.0
    is_live: bool = False


class _Heading(Heading):
    """A heading that begins where the text begins."""

    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}


class _Markdown(Markdown):
    """Markdown for terminals, as this one draws it."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "heading_open": _Heading}


def draw(blocks: list[Block], moment: Moment) -> RenderableType:
    """All blocks, one below the other, and below them a sign of life while a turn goes on."""
    shown = [draw_block(block, moment, block is blocks[-1]) for block in blocks]
    if moment.is_live:
        shown.append(Text(f"{_SPINNER[int(moment.now * 10) % len(_SPINNER)]} Ctrl-C cancels", "dim"))
    return Group(*shown)


def draw_block(block: Block, moment: Moment, is_last: bool = False) -> RenderableType:
    """One block."""
    match block:
        case Said():
            text = words.clean(block.text)
            return Padding(_Markdown(text, hyperlinks=False, code_theme="ansi_dark"), (0, 0, 1, 0)) if text else Text()
        case Thought():
            return _growing(block) if is_last and moment.is_live else folded(block)
        case Asked():
            return Text(f"› {words.clean(block.text)}", "bold cyan")
        case Called():
            return card(block, moment.now)
        case Delegated():
            return _delegated(block)
        case Noticed():
            return Text(f"· {words.one_line(block.text)}", "dim")
        case Ended():
            return _ended(block)
        case _:
            assert_never(block)


def folded(thought: Thought) -> RenderableType:
    """Reasoning, folded to a line."""
    text, took = thought.text, thought.ended - thought.began
    time = f" for {words.duration(took)}" if took > 0 else ""
    return Text(f"▸ thought{time} · {len(text):,} characters · /reasoning shows it", "dim", no_wrap=True)


def _growing(thought: Thought) -> RenderableType:
    lines = words.clean(thought.text).strip().split("\n")
    return Text("\n".join(["▾ thinking", *(f"  {line}" for line in lines[-TAIL:])]), "dim italic")


def _delegated(task: Delegated) -> RenderableType:
    end, calls = task.turn.end, task.turn.calls
    mark = Text("◇ ", "magenta")
    doing = words.reason(end.reason) or "done" if end is not None else _doing(task)
    if end is not None and end.error:
        doing = end.error
    mark.append(words.one_line(task.name), "bold")
    mark.append(f" · {calls} call{'' if calls == 1 else 's'} · {words.one_line(doing)}", "dim")
    mark.no_wrap, mark.overflow = True, "ellipsis"
    return mark


def _doing(task: Delegated) -> str:
    match task.turn.blocks[-1] if task.turn.blocks else None:
        case Called() as call:
            return head(call)
        case Said() | Thought() as text:
            return text.text[-60:]
        case _:
            return "at work"


def _ended(end: Ended) -> RenderableType:
    shown: list[RenderableType] = []
    if end.error:
        shown.append(Text(f"✗ {words.clean(end.error)} ({end.reason})", "red"))
    elif said := words.reason(end.reason):
        shown.append(Text(f"■ {said}", "yellow"))
    if end.usage:
        shown.append(Text(words.usage(end.usage), "dim"))
    return Group(*shown)
