"""Streams of the Responses API, written by hand from its reference, and what a decoder makes of them.

https://developers.openai.com/api/docs/api-reference/responses-streaming
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from talaria.core.errors import ModelError
from talaria.core.messages import Reasoning, Text, ToolCall
from talaria.models.responses.decoder import ResponsesDecoder
from talaria.ports.model import Delta, ReasoningDelta, TextDelta

Event = dict[str, Any]
USAGE = {
    "input_tokens": 75,
    "input_tokens_details": {"cached_tokens": 32, "cache_write_tokens": 16},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 12},
    "total_tokens": 95,
}


class Stream(NamedTuple):
    name: str
    body: bytes
    expected: dict[str, Any]


def sse(events: Sequence[Event]) -> bytes:
    """Events as OpenAI writes them: numbered, and named before the data."""
    lines: list[str] = []
    for number, event in enumerate(events):
        data = json.dumps({**event, "sequence_number": number}, separators=(",", ":"))
        lines.append(f"event: {event['type']}\ndata: {data}\n\n")
    return "".join(lines).encode()


def response(status: str, output: Sequence[Event] = (), **more: Any) -> Event:
    echo: Event = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-x",
        "tools": [],
        "tool_choice": "auto",
    }
    rest: Event = {
        "error": None,
        "incomplete_details": None,
        "parallel_tool_calls": True,
        "metadata": {},
        "usage": None,
    }
    return {**echo, **rest, "instructions": 'say "type"', "status": status, "output": list(output), **more}


def created() -> list[Event]:
    begun = response("in_progress")
    return [{"type": "response.created", "response": begun}, {"type": "response.in_progress", "response": begun}]


def ended(status: str, output: Sequence[Event] = (), **more: Any) -> Event:
    return {"type": f"response.{status}", "response": response(status, output, **{"usage": USAGE, **more})}


def message(text: str, id_: str = "msg_1", **more: Any) -> Event:
    content: list[Event] = [{"type": "output_text", "annotations": [], "logprobs": [], "text": text}]
    return {"id": id_, "type": "message", "status": "completed", "content": content, "role": "assistant", **more}


def call(call_id: str, arguments: str, name: str = "search", **more: Any) -> Event:
    own = {"id": f"fc_{call_id}", "type": "function_call", "status": "completed"}
    return {**own, "arguments": arguments, "call_id": call_id, "name": name, **more}


def reasoning(*summary: str, id_: str = "rs_1", **more: Any) -> Event:
    parts = [{"type": "summary_text", "text": text} for text in summary]
    return {"id": id_, "type": "reasoning", "encrypted_content": "gAAAA-" + id_, "summary": parts, **more}


def saying(item: Event, *pieces: str, at: int = 0) -> list[Event]:
    """The events of a message."""
    place = {"item_id": item["id"], "output_index": at, "content_index": 0}
    part: Event = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
    deltas: list[Event] = [{"delta": piece, "logprobs": [], "obfuscation": "x7Q"} for piece in pieces]
    text = "".join(pieces)
    return [
        added({**item, "status": "in_progress", "content": []}, at),
        {"type": "response.content_part.added", **place, "part": part},
        *({"type": "response.output_text.delta", **place, **delta} for delta in deltas),
        {"type": "response.output_text.done", **place, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **place, "part": {**part, "text": text}},
        done(item, at),
    ]


def thinking(item: Event, *sections: Sequence[str], at: int = 0) -> list[Event]:
    """The events of reasoning with a summary."""
    events = [added({**item, "summary": [], "encrypted_content": "gAAAA-not-whole"}, at)]
    for number, pieces in enumerate(sections):
        place = {"item_id": item["id"], "output_index": at, "summary_index": number}
        part, text = {"type": "summary_text", "text": ""}, "".join(pieces)
        events += [
            {"type": "response.reasoning_summary_part.added", **place, "part": part},
            *({"type": "response.reasoning_summary_text.delta", **place, "delta": piece} for piece in pieces),
            {"type": "response.reasoning_summary_text.done", **place, "text": text},
            {"type": "response.reasoning_summary_part.done", **place, "part": {**part, "text": text}},
        ]
    return [*events, done(item, at)]


def calling(item: Event, *pieces: str, at: int = 0, ends: bool = True) -> list[Event]:
    """The events of a function call."""
    place = {"item_id": item["id"], "output_index": at}
    arguments = {"type": "response.function_call_arguments.done", **place, "arguments": "".join(pieces)}
    return [
        added({**item, "status": "in_progress", "arguments": ""}, at),
        *({"type": "response.function_call_arguments.delta", **place, "delta": piece} for piece in pieces),
        *([arguments, done(item, at)] if ends else []),
    ]


def added(item: Event, at: int) -> Event:
    return {"type": "response.output_item.added", "output_index": at, "item": item}


def done(item: Event, at: int) -> Event:
    return {"type": "response.output_item.done", "output_index": at, "item": item}


def decoded(parts: Sequence[bytes]) -> tuple[list[Delta], dict[str, Any]]:
    """Return the deltas, and the outcome: parts with what goes back to the issuer, finish, usage; or the error."""
    decoder = ResponsesDecoder("me")
    deltas: list[Delta] = []
    try:
        for part in parts:
            deltas += decoder.feed(part)
        last, answer = decoder.end()
        deltas += last
    except ModelError as error:
        partial = decoder.partial()
        assert partial.incomplete
        assert not partial.calls
        outcome = {"error": error.code, "retryable": error.retryable, "parts": _shown(partial.parts)}
        return deltas, outcome
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == answer.message.text
    assert "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)) == answer.message.reasoning
    assert all(delta.text for delta in deltas)
    usage = answer.usage
    counts = [usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens]
    outcome: dict[str, Any] = {"parts": _shown(answer.message.parts), "finish": answer.finish, "usage": counts}
    if answer.cut_calls:
        outcome["cut_calls"] = answer.cut_calls
    if decoder.notes:
        outcome["notes"] = list(decoder.notes)
    return deltas, outcome


def _shown(parts: Sequence[object]) -> list[Any]:
    shown: list[Any] = []
    for part in parts:
        match part:
            case Text():
                shown.append(("text", part.text, (part.payload or {}).get("me")))
            case Reasoning():
                assert part.issuer == "me"
                shown.append(("reasoning", part.text, part.payload))
            case ToolCall():
                shown.append(("call", part.id, part.name, part.arguments, (part.payload or {}).get("me")))
            case _:
                raise AssertionError(part)
    return shown
