"""Decodes one chat-completions reply: bytes, however they are cut, to deltas and an answer. No I/O."""

from typing import Any, cast

from talaria.core.messages import AssistantMessage
from talaria.core.usage import Usage
from talaria.models import failures
from talaria.models.accounting import read_usage
from talaria.models.calls import CallAssembly
from talaria.models.finish import FINISH, settled
from talaria.models.openai.chunks import Choice, Chunk, ChunkDelta, decode_chunk, plain_text, said
from talaria.models.openai.kept import Kept
from talaria.models.openai.thoughts import FLAG, Thoughts, is_thought
from talaria.models.reply_decoder import ReplyDecoder
from talaria.models.speech import Speech
from talaria.ports.model import Answer, Delta

DONE = b"[DONE]"
_FAILED = frozenset(
    (
        *("error", "network_error", "insufficient_system_resource", "model_context_window_exceeded"),
        *("malformed_function_call", "function_call_filter: malformed_function_call"),
    )
)


class OpenAiDecoder(ReplyDecoder):
    """A `Decoder` for chat completions, streamed or (where a server ignores `stream`) as one JSON document."""

    __slots__ = ("_calls", "_finish", "_kept", "_speech", "_thoughts", "_usage")

    def __init__(self, issuer: str) -> None:
        super().__init__(issuer)
        self._speech = Speech(issuer)
        self._thoughts = Thoughts()
        self._kept = Kept()
        self._calls = CallAssembly()
        self._usage = Usage()
        self._finish = ""

    def _payload(self, payload: bytes, out: list[Delta]) -> None:
        if payload == DONE:
            self.progress = "done"
            return
        try:
            chunk = decode_chunk(payload)
        except ValueError:
            self._no_event(payload)
            return
        text = plain_text(chunk)
        if text is None or self.progress != "answering" or self._thoughts.is_open:
            self._chunk(chunk, out)
        else:
            self._speech.text(text, out)

    def _answer(self, out: list[Delta]) -> Answer:
        if rest := self._thoughts.end():
            self._speech.reasoning(rest, out)
        self._speech.end(out)
        self._check_end()
        finish = FINISH.get(self._finish.lower(), "stop")
        calls, cut = self._calls.finish(self._issuer, is_cut=finish in {"length", "content_filter"})
        message = AssistantMessage((*self._kept.parts(self._issuer), *self._speech.parts(), *calls))
        if self._speech.is_only_refusal:
            finish = "content_filter"
        return Answer(message, settled(finish, calls=bool(calls), cut=cut), self._usage, cut)

    def partial(self) -> AssistantMessage:
        """What came so far, text and reasoning only, marked incomplete."""
        return AssistantMessage(self._speech.parts(), incomplete=True)

    def _check_end(self) -> None:
        if self._finish.lower() in _FAILED:
            raise failures.in_stream({"message": f"finish_reason {self._finish}"})
        if not self._finish and (self.progress != "done" or self._calls.has_open):
            raise self._ended_too_early()

    def _no_event(self, payload: bytes) -> None:
        if payload.strip() == DONE:
            self.progress = "done"
        else:
            super()._no_event(payload)

    def _chunk(self, chunk: Chunk, out: list[Delta]) -> None:
        if chunk.error:
            raise failures.in_stream(chunk.error)
        if isinstance(chunk.x_groq, dict):
            self._groq(cast("dict[str, Any]", chunk.x_groq))
        if chunk.usage is not None:
            self._usage = read_usage(chunk.usage, self._usage)
        for choice in chunk.choices or ():
            self._choice(choice, out)

    def _groq(self, own: dict[str, Any]) -> None:
        """Groq has an object of its own for usage and errors (https://console.groq.com/docs/api-reference)."""
        if own.get("error"):
            raise failures.in_stream(own["error"])
        self._usage = read_usage(own.get("usage"), self._usage)

    def _choice(self, choice: Choice, out: list[Delta]) -> None:
        if choice.index or self.progress == "done":
            return
        if choice.usage is not None:
            self._usage = read_usage(choice.usage, self._usage)
        if isinstance(choice.finish_reason, str) and choice.finish_reason:
            self._finishes(choice.finish_reason)
        delta = choice.delta
        if choice.message is not None and (delta is None or self._has_nothing):
            delta = choice.message if self._has_nothing else None
            self._finish = self._finish or ("stop" if self._body.is_document else "")
        if delta is not None:
            self._delta(delta, out)

    @property
    def _has_nothing(self) -> bool:
        return self._speech.is_silent and not self._calls.drafts

    def _finishes(self, reason: str) -> None:
        known = FINISH.get(reason.lower())
        if known is None and reason.lower() not in _FAILED:
            self.notes.append(f"finish_reason {reason[:100]!r} is not known; taken as 'stop'")
        if FINISH.get(self._finish.lower()) not in {"length", "content_filter"}:
            self._finish = reason

    def _delta(self, delta: ChunkDelta, out: list[Delta]) -> None:
        content, thought = said(delta.content)
        extra = delta.extra_content
        is_flag = extra is not None and extra == FLAG
        if extra is not None or self._thoughts.is_open:
            thought, content = self._thoughts.split(content, flagged=is_flag or is_thought(extra))
        detailed = self._kept.take(delta) if delta.reasoning_details or (extra and not is_flag) else ""
        reasoning = delta.reasoning_content or delta.reasoning or thought or detailed
        refusal = delta.refusal
        if isinstance(reasoning, str) and reasoning:
            self._speech.reasoning(reasoning, out)
        if content:
            self._speech.text(content, out)
        if isinstance(refusal, str) and refusal:
            self._speech.refusal(refusal, out)
        if delta.tool_calls:
            self._calls.take(delta.tool_calls)
        if delta.function_call:
            self._calls.take({"function": delta.function_call})
        if self.progress == "waiting" and not self._has_nothing:
            self.progress = "answering"
