"""Steps of a scripted model server: what it answers to one request, and how it cuts and spoils the answer."""

import json
from typing import Any

import msgspec


class Step(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One answer of a `ModelServer`.

    `calls` are (name, arguments), arguments as a value or as JSON text. `chunk` is how many characters a piece has,
    `pace` the seconds before each piece, `delay` those before the head. A `status` other than 200 answers with `body`.
    `cut_after`: the connection dies after that many chunks. `usage`: (input, output) tokens, None for none at all.
    `raw`: what is sent as the body instead of all that, each piece in a write of its own. `stream` false: one JSON
    document although a stream was asked for. `hang`: after everything, the connection stays open and silent.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    finish: str = ""
    chunk: int = 8
    pace: float = 0.0
    delay: float = 0.0
    status: int = 200
    headers: dict[str, str] = {}
    body: Any = None
    cut_after: int | None = None
    usage: tuple[int, int] | None = (50, 20)
    raw: tuple[str, ...] | None = None
    stream: bool = True
    hang: bool = False


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _arguments(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _finish(step: Step) -> str:
    return step.finish or ("tool_calls" if step.calls else "stop")


def _usage(step: Step) -> dict[str, int] | None:
    if step.usage is None:
        return None
    sent, said = step.usage
    return {"prompt_tokens": sent, "completion_tokens": said, "total_tokens": sent + said}


def _chunk(model: str, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [choice]}


def _call_deltas(step: Step, number: int) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = []
    for index, (name, value) in enumerate(step.calls):
        opened = {"index": index, "id": f"call_{number}_{index}", "type": "function"}
        deltas.append({"tool_calls": [opened | {"function": {"name": name, "arguments": ""}}]})
        pieces = _pieces(_arguments(value), step.chunk)
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in pieces]
    return deltas


def chunks(step: Step, model: str, number: int) -> list[bytes]:
    """Return the events of a streamed answer; `number` makes its call ids differ from those of other answers."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": piece} for piece in _pieces(step.reasoning, step.chunk)]
    deltas += [{"content": piece} for piece in _pieces(step.text, step.chunk)]
    deltas += _call_deltas(step, number)
    payloads = [_chunk(model, delta) for delta in deltas]
    payloads.append(_chunk(model, {}, _finish(step)))
    usage = _usage(step)
    if usage:
        payloads.append(_chunk(model, {}) | {"choices": [], "usage": usage})
    return [*(b"data: %s\n\n" % json.dumps(payload).encode() for payload in payloads), b"data: [DONE]\n\n"]


def document(step: Step, model: str, number: int) -> bytes:
    """Return the answer as one JSON document."""
    message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
    if step.reasoning:
        message["reasoning_content"] = step.reasoning
    if step.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{index}",
                "type": "function",
                "function": {"name": name, "arguments": _arguments(value)},
            }
            for index, (name, value) in enumerate(step.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": _finish(step)}
    answer: dict[str, Any] = {"id": "chatcmpl-1", "object": "chat.completion", "model": model, "choices": [choice]}
    if step.usage:
        answer["usage"] = _usage(step)
    return json.dumps(answer).encode()
