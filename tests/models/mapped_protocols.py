"""Private protocols: how they are mapped, what their servers say, and what must come of it."""

import json
from typing import Any, NamedTuple

from talaria.core.messages import AssistantMessage, Reasoning, Text, ToolCall
from talaria.core.usage import Usage
from talaria.models.mapped.mapping import ProtocolMapping
from talaria.ports.model import Finish

ISSUER = "mapped:corp.test:corp-1"


class Protocol(NamedTuple):
    """A protocol and one of its replies."""

    name: str
    mapping: dict[str, Any]
    body: bytes
    message: AssistantMessage
    finish: Finish
    usage: Usage
    pieces: tuple[str, ...]

    @property
    def mapped(self) -> ProtocolMapping:
        return ProtocolMapping.model_validate(self.mapping)


def events(*payloads: Any) -> bytes:
    return b"".join(b"data: %s\n\n" % json.dumps(payload, ensure_ascii=False).encode() for payload in payloads)


def lines(*payloads: Any) -> bytes:
    return b"".join(json.dumps(payload, ensure_ascii=False).encode() + b"\n" for payload in payloads)


def _house(kind: str, **data: Any) -> dict[str, Any]:
    return {"code": 0, "msg": "ok", "data": {"kind": kind, **data}}


HOUSE = Protocol(
    "of one's own house: events of deltas in an envelope",
    {
        "call": "/call",
        "stream": "/callStream",
        "text": "data.answer",
        "reasoning": "data.thought",
        "toolCalls": {"path": "data.tools", "id": "key", "name": "tool", "arguments": "input"},
        "usage": {"path": "data.cost", "input": "in", "output": "out", "cached": "hit", "reasoning": "deep"},
        "finish": "data.why",
        "finishReasons": {"DONE": "stop", "TOOL": "tool_calls", "FULL": "length"},
        "error": {"path": "code", "message": "msg"},
        "end": "[END]",
    },
    b": hello\n\n"
    + events(
        _house("thought", thought="Hm, 你"),
        _house("thought", thought="好 🙂"),
        _house("answer", answer="Let me "),
        _house("answer", answer="see."),
        _house("tools", tools=[{"key": "k1", "tool": "search", "input": {"q": "é"}}]),
        _house("tools", tools=[{"key": "k2", "tool": "search", "input": '{"q": 2}'}]),
        _house("end", why="TOOL"),
        _house("cost", cost={"in": 50, "out": 20, "hit": 10, "deep": 5}),
    )
    + b"data: [END]\n\n",
    AssistantMessage(
        (
            Reasoning("Hm, 你好 🙂", ISSUER),
            Text("Let me see."),
            ToolCall("k1", "search", '{"q":"é"}'),
            ToolCall("k2", "search", '{"q": 2}'),
        )
    ),
    "tool_calls",
    Usage(50, 20, 10, 5),
    ("Hm, 你", "好 🙂", "Let me ", "see."),
)


def _grown(text: str, why: str = "null", **message: Any) -> dict[str, Any]:
    choice = {"finish_reason": why, "message": {"role": "assistant", "content": text, **message}}
    return {"output": {"choices": [choice]}, "usage": {"input_tokens": 7, "output_tokens": len(text)}}


GROWING = Protocol(
    "of an answer that is said from the beginning in every event (DashScope's own)",
    {
        "stream": "/generation",
        "text": "output.choices[0].message.content",
        "toolCalls": "output.choices[0].message.tool_calls",
        "usage": "usage",
        "finish": "output.choices[0].finish_reason",
        "cumulative": True,
    },
    events(
        _grown(""),
        _grown("Good"),
        _grown("Good"),
        _grown("Good day 🙂"),
        _grown("Good day 🙂", tool_calls=[{"id": "c", "function": {"name": "se", "arguments": ""}}]),
        _grown("Good day 🙂", tool_calls=[{"id": "c", "function": {"name": "search", "arguments": '{"q":'}}]),
        _grown("", "tool_calls", tool_calls=[{"id": "c", "function": {"name": "search", "arguments": '{"q":1}'}}]),
    ),
    AssistantMessage((Text("Good day 🙂"), ToolCall("c", "search", '{"q":1}'))),
    "tool_calls",
    Usage(7, 10),
    ("Good", " day 🙂"),
)

LINES = Protocol(
    "of JSON lines (Ollama's own)",
    {
        "stream": "/api/chat",
        "text": "message.content",
        "reasoning": "message.thinking",
        "toolCalls": "message.tool_calls",
        "usage": {"input": "prompt_eval_count", "output": "eval_count"},
        "finish": "done_reason",
        "error": "error",
    },
    lines(
        {"message": {"role": "assistant", "content": "", "thinking": "Well."}, "done": False},
        {"message": {"role": "assistant", "content": "A\nB"}, "done": False},
        {"message": {"role": "assistant", "content": " ünd C"}, "done": False},
        {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "length", "eval_count": 3}
        | {"prompt_eval_count": 9},
    ),
    AssistantMessage((Reasoning("Well.", ISSUER), Text("A\nB ünd C"))),
    "length",
    Usage(9, 3),
    ("Well.", "A\nB", " ünd C"),
)

DOCUMENT = Protocol(
    "without streaming: a stream of one delta",
    {"call": "/ask", "text": "result.text", "toolCalls": "result.calls", "usage": "usage", "error": "problem"},
    json.dumps(
        {
            "result": {"text": "Zwölf.", "calls": [{"name": "search", "arguments": {}}]},
            "usage": {"prompt_tokens": 4, "completion_tokens": 2},
            "problem": None,
        },
        indent=1,
    ).encode(),
    AssistantMessage((Text("Zwölf."), ToolCall("", "search", "{}"))),
    "tool_calls",
    Usage(4, 2),
    ("Zwölf.",),
)

PROTOCOLS = (HOUSE, GROWING, LINES, DOCUMENT)
