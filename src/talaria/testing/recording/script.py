"""The script of a recorded test: what the model said, step by step, as Python source."""

import json
import textwrap
from collections.abc import Iterator
from typing import Any, cast

from talaria.core.errors import ContextOverflow, InvalidRequest, ModelRejected, ModelUnavailable
from talaria.core.messages import AssistantMessage, ToolCall
from talaria.journal.entries import ModelFinished, StepFinished
from talaria.journal.recorded import RecordedRun
from talaria.testing.recording.masks import Masks
from talaria.testing.replay import value_of

WIDTH = 100
_FAILURES = {kind.code: kind.__name__ for kind in (ContextOverflow, ModelRejected, ModelUnavailable)}


def literal(value: Any) -> str:
    """Return a JSON value as Python source, on as many lines as it takes."""
    line = _on_one_line(value)
    if len(line) <= WIDTH:
        return line
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return sequence([f"{json.dumps(key)}: {literal(each)}" for key, each in fields.items()], "{}")
    if isinstance(value, list | tuple):
        parts = [literal(each) for each in cast("list[Any]", value)]
        return sequence(parts, "[]" if isinstance(value, list) else "()")
    if isinstance(value, str) and "\n" in value:
        return "\n".join(["(", *(f"    {_on_one_line(each)}" for each in value.splitlines(keepends=True)), ")"])
    return line


def _on_one_line(value: Any) -> str:
    if isinstance(value, str):
        return repr(value) if '"' in value else json.dumps(value, ensure_ascii=False)  # JSON's texts are Python's, too
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return "{" + ", ".join(f"{json.dumps(key)}: {_on_one_line(each)}" for key, each in fields.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_on_one_line, cast('list[Any]', value)))}]"
    if isinstance(value, tuple):
        parts = [_on_one_line(each) for each in cast("tuple[Any, ...]", value)]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    return repr(value)


def invocation(name: str, *given: tuple[str, str]) -> str:
    """Return the source of a call: arguments as (keyword or "", source)."""
    parts = [f"{keyword}={source}" if keyword else source for keyword, source in given]
    line = f"{name}({', '.join(parts)})"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    return "\n".join([f"{name}(", *(textwrap.indent(f"{part},", "    ") for part in parts), ")"])


def sequence(parts: list[str], brackets: str = "()") -> str:
    """Return the source of a tuple or a list of what has sources."""
    if not parts:
        return brackets
    body = "\n".join(textwrap.indent(f"{part},", "    ") for part in parts)
    return f"{brackets[0]}\n{body}\n{brackets[1]}"


def steps(run: RecordedRun, masks: Masks, *, is_own: bool) -> Iterator[str]:
    """Yield the source of every step of the scripted model; `is_own`: only what an agent of one's own asked counts.

    Raises:
        InvalidRequest: a model call was cut off, or failed in a way that no script can.
    """
    for entry in run.entries:
        if isinstance(entry, StepFinished) and is_own:
            yield _say(entry.message, masks)
        elif isinstance(entry, ModelFinished) and not is_own:
            yield _step(entry, masks)


def _step(entry: ModelFinished, masks: Masks) -> str:
    message = entry.message
    if entry.error == "stream_truncated":
        return invocation("Cut", *_texts(message, masks))
    if entry.error in _FAILURES:
        error = invocation(_FAILURES[entry.error], ("", literal(masks.masked(entry.error_text))))
        return invocation("Fail", ("", error))
    if message.incomplete or entry.error:
        raise InvalidRequest(f"the model call of round {entry.round} was cut off; such a run cannot be played again")
    usual = "tool_calls" if message.calls else "stop"
    more = [("finish", literal(entry.finish))] if entry.finish != usual else []
    more += [("cut_calls", str(entry.cut_calls))] if entry.cut_calls else []
    return _say(message, masks, *more)


def _say(message: AssistantMessage, masks: Masks, *more: tuple[str, str]) -> str:
    calls = [_call(call, masks) for call in message.calls]
    return invocation("Say", *_texts(message, masks), *([("calls", sequence(calls))] if calls else []), *more)


def _texts(message: AssistantMessage, masks: Masks) -> Iterator[tuple[str, str]]:
    if message.text:
        yield "", literal(masks.masked(message.text))
    if message.reasoning:
        yield "reasoning", literal(masks.masked(message.reasoning))


def _call(call: ToolCall, masks: Masks) -> str:
    arguments = masks.masked(value_of(call.arguments))
    source = literal(arguments if isinstance(arguments, dict) else masks.masked(call.arguments))
    return invocation("Call", ("", literal(call.name)), ("", source), ("id", literal(call.id)))
