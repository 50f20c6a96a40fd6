"""The field cases of tests/models/data as values, and what a decoder makes of a stream in the form they expect."""

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st

from talaria.core.errors import ModelError
from talaria.core.messages import AssistantMessage
from talaria.models.anthropic.decoder import AnthropicDecoder
from talaria.models.openai.decoder import OpenAiDecoder
from talaria.ports.model import Delta, ReasoningDelta, TextDelta

DATA = Path(__file__).parent / "data"


class Stream(NamedTuple):
    name: str
    body: bytes
    expected: dict[str, Any]


def load(name: str) -> Any:
    return json.loads((DATA / name).read_text("utf-8"))


def sse(payloads: Sequence[str]) -> bytes:
    return b"".join(b"data: %s\n\n" % payload.encode("utf-8", "surrogatepass") for payload in payloads)


def field_case(id_: str) -> dict[str, Any]:
    return next(case for case in load("field_cases.json") if case["id"] == id_)


def _stream(name: str, body: bytes, result: dict[str, Any]) -> Stream:
    """A stream; calls that had begun when it failed (`executable_calls`: 0) are nothing to anybody."""
    if "executable_calls" in result:
        result = {key: [] if key == "tool_calls" else value for key, value in result.items()}
        assert result.pop("executable_calls") == 0
    return Stream(name, body, result)


def streams() -> Iterator[Stream]:
    """Yield every stream on record, of others' bug reports and of our own making."""
    for case in load("field_cases.json"):
        if case["input"]["type"] == "sse_bytes":
            yield _stream(case["id"], b"".join(map(base64.b64decode, case["input"]["chunks_b64"])), case["result"])
        for stream in case["input"].get("streams", ()) if case["input"]["type"] == "chat_stream" else ():
            yield _stream(f"{case['id']}-{stream['name']}", sse(stream["sse"]), case["result"][stream["name"]])
    for stream in (*load("dirty_streams.json"), *load("host_streams.json")):
        body = stream["body"].encode("utf-8", "surrogatepass") if "body" in stream else sse(stream["sse"])
        yield _stream(stream["name"], body, stream["result"])


def messages_sse(events: Sequence[dict[str, Any]]) -> bytes:
    """Return events as the Messages API sends them."""
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def messages_streams() -> Iterator[Stream]:
    """Yield streams of the Messages API, written by hand after its documents."""
    for stream in load("messages_streams.json"):
        body = stream["body"].encode() if "body" in stream else messages_sse(stream["events"])
        yield _stream(stream["name"], body, stream["result"])


def pieces(body: bytes, cuts: Sequence[int]) -> list[bytes]:
    bounds = [0, *sorted(cuts), len(body)]
    return [body[start:end] for start, end in pairwise(bounds) if start < end]


def splits(body: bytes) -> st.SearchStrategy[list[bytes]]:
    return st.lists(st.integers(0, len(body)), max_size=40, unique=True).map(lambda cuts: pieces(body, cuts))


def decoded(
    parts: Sequence[bytes], make: Callable[[str], OpenAiDecoder | AnthropicDecoder] = OpenAiDecoder
) -> tuple[list[Delta], dict[str, Any]]:
    """Return the deltas, and the outcome in the form of the field cases."""
    decoder = make("test")
    deltas: list[Delta] = []
    try:
        for part in parts:
            deltas += decoder.feed(part)
        last, answer = decoder.end()
        deltas += last
    except ModelError as error:
        return deltas, _outcome(decoder.partial()) | {"finish": "error", "error": error.code}
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == answer.message.text
    assert "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)) == answer.message.reasoning
    assert all(delta.text for delta in deltas)
    outcome = _outcome(answer.message) | {"finish": answer.finish}
    if answer.cut_calls:
        outcome["cut_calls"] = answer.cut_calls
    usage = answer.usage
    if usage.input_tokens or usage.output_tokens:
        total = usage.input_tokens + usage.output_tokens
        outcome["usage"] = {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": total,
        }
    return deltas, outcome


def _outcome(message: AssistantMessage) -> dict[str, Any]:
    shown = [{"name": call.name, "arguments": _arguments(call.arguments)} for call in message.calls]
    return {"text": message.text, "reasoning": message.reasoning, "tool_calls": shown}


def _arguments(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
