"""One server that speaks every dialect, each under a path of its own, and checks every request it gets."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
from aiohttp import web

from tests.models.valid_requests import CHECKS, Body

MODELS = {
    "openai": "gpt-4o",
    "deepseek": "deepseek-flash",
    "mistral": "mistral-medium-4",
    "anthropic": "claude-opus-5",
    "responses": "gpt-5.5",
    "mapped": "corp-1",
}
MAPPING = {
    "stream": "/callStream",
    "text": "answer",
    "reasoning": "thought",
    "toolCalls": "tool_calls",
    "finish": "why",
    "usage": "usage",
}


class Wrote(msgspec.Struct, frozen=True):
    """A call as the model writes it."""

    id: str
    name: str
    arguments: str


class Act(msgspec.Struct, frozen=True):
    """What the model does in one answer. `breaks`: the stream ends in the middle of it."""

    text: str = ""
    thought: str = ""
    calls: tuple[Wrote, ...] = ()
    breaks: bool = False


class Babel:
    """Answers with the acts it was given, in order; `wrong` says which requests a provider would have refused."""

    def __init__(self) -> None:
        self.acts: list[Act] = []
        self.wrong: list[str] = []
        self.bodies: list[tuple[str, Body]] = []
        self.answered = 0

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Handle one request."""
        speaker = request.path.split("/")[1]
        body = await request.json()
        self.bodies.append((speaker, body))
        try:
            CHECKS[speaker](body)
            _check_foreign(speaker, json.dumps(body, ensure_ascii=False))
        except (AssertionError, KeyError, ValueError) as error:
            self.wrong.append(f"{speaker}: {error!r}: {json.dumps(body, ensure_ascii=False)[:3000]}")
        act = self.acts.pop(0) if self.acts else Act("Nothing more.")
        self.answered += 1
        events = _WRITERS[speaker](act, speaker, self.answered)
        if act.breaks:
            events = events[: max(1, len(events) - 2)]
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events))
        await response.write_eof()
        return response


def routes(url: str) -> list[dict[str, Any]]:
    """The routes of a configuration that leads all models here."""
    named = {"mistral": "openai"}
    made: list[dict[str, Any]] = []
    for speaker, model in MODELS.items():
        route: dict[str, Any] = {"prefix": model, "baseUrl": f"{url}/{speaker}", "dialect": named.get(speaker, speaker)}
        made.append(route | {"retries": 0, "apiKey": f"key-{speaker}"})
        if speaker == "mapped":
            made[-1]["mapping"] = MAPPING
    return made


def thought_of(speaker: str) -> str:
    """A mark that only this speaker's thoughts have."""
    return f"[{speaker} thinks]"


def signature_of(speaker: str) -> str:
    """A mark that only what this speaker signed has."""
    return f"SIGNED-BY-{speaker}"


def _check_foreign(speaker: str, text: str) -> None:
    for other in MODELS:
        if other != speaker:
            assert thought_of(other) not in text, f"a thought of {other}"
            assert signature_of(other) not in text, f"a signature of {other}"


def _chat(act: Act, speaker: str, number: int) -> list[Any]:
    def delta(finish: str | None = None, **fields: Any) -> Body:
        return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}

    events = [delta(role="assistant")]
    if act.thought:
        events.append(delta(reasoning_content=thought_of(speaker) + act.thought))
    if act.text:
        events.append(delta(content=act.text))
    for index, call in enumerate(act.calls):
        function = {"name": call.name, "arguments": call.arguments}
        signed = {"extra_content": {"google": {"thought_signature": signature_of(speaker)}}}
        events.append(delta(tool_calls=[{"index": index, "id": call.id, "function": function, **signed}]))
    return [*events, delta("tool_calls" if act.calls else "stop"), {"choices": [], "usage": {"prompt_tokens": number}}]


def _messages(act: Act, speaker: str, number: int) -> list[Any]:
    blocks: list[tuple[Body, Body]] = []
    if act.thought:
        thought = {"type": "thinking_delta", "thinking": thought_of(speaker) + act.thought}
        blocks.append(({"type": "thinking", "thinking": "", "signature": signature_of(speaker)}, thought))
    if act.text:
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": act.text}))
    for call in act.calls:
        written = {"type": "input_json_delta", "partial_json": call.arguments}
        blocks.append(({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, written))
    events: list[Any] = [{"type": "message_start", "message": {"usage": {"input_tokens": number}}}]
    for index, (block, delta) in enumerate(blocks):
        events += [
            {"type": "content_block_start", "index": index, "content_block": block},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    reason = "tool_use" if act.calls else "end_turn"
    return [*events, {"type": "message_delta", "delta": {"stop_reason": reason}}, {"type": "message_stop"}]


def _responses(act: Act, speaker: str, number: int) -> list[Any]:
    items: list[Body] = []
    if act.thought:
        summary = [{"type": "summary_text", "text": thought_of(speaker) + act.thought}]
        items.append(
            {"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": signature_of(speaker)}
        )
    if act.text:
        content = [{"type": "output_text", "text": act.text, "annotations": list[Any]()}]
        items.append({"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content})
    for index, call in enumerate(act.calls):
        fields = {"call_id": call.id, "name": call.name, "arguments": call.arguments}
        items.append({"type": "function_call", "id": f"fc_{number}_{index}", **fields})
    events: list[Any] = [{"type": "response.created", "response": {"status": "in_progress"}}]
    for index, item in enumerate(items):
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    usage = {"input_tokens": number, "output_tokens": 1}
    response = {"status": "completed", "output": items, "usage": usage}
    return [*events, {"type": "response.completed", "response": response}, "over"]


def _mapped(act: Act, speaker: str, number: int) -> list[Any]:
    events: list[Any] = [{"usage": {"prompt_tokens": number}}]
    if act.thought:
        events.append({"thought": thought_of(speaker) + act.thought})
    if act.text:
        events.append({"answer": act.text})
    for index, call in enumerate(act.calls):
        function = {"name": call.name, "arguments": call.arguments}
        events.append({"tool_calls": [{"index": index, "id": call.id, "function": function}]})
    return [*events, {"why": "tool_calls" if act.calls else "stop"}]


_WRITERS: dict[str, Callable[[Act, str, int], list[Any]]] = {
    "openai": _chat,
    "deepseek": _chat,
    "mistral": _chat,
    "anthropic": _messages,
    "responses": _responses,
    "mapped": _mapped,
}
