"""Decodes one chat-completions reply: bytes, however they are cut, to deltas and an answer. No I/O."""

from collections.abc import Sequence
from typing import Any, Literal, cast

from talaria.core.errors import ModelError, ModelUnavailable, StreamTruncated
from talaria.core.messages import AssistantMessage, ToolCall
from talaria.core.usage import Usage
from talaria.models import failures
from talaria.models.accounting import read_usage
from talaria.models.calls import CallAssembly
from talaria.models.finish import FINISH
from talaria.models.openai.chunks import Choice, Chunk, ChunkDelta, decode_chunk, plain_text, said
from talaria.models.openai.kept import Kept
from talaria.models.openai.thoughts import FLAG, Thoughts, is_thought
from talaria.models.reply_body import ReplyBody
from talaria.models.speech import Speech
from talaria.ports.model import Answer, Delta, Finish

DONE = b"[DONE]"
LARGEST_EVENT = 32 * 1024 * 1024
_FAILED = frozenset(
    (
        *("error", "network_error", "insufficient_system_resource", "model_context_window_exceeded"),
        *("malformed_function_call", "function_call_filter: malformed_function_call"),
    )
)


class OpenAiDecoder:
    """A `Decoder` for chat completions, streamed or (where a server ignores `stream`) as one JSON document."""

    __slots__ = (
        "_body",
        "_calls",
        "_failure",
        "_finish",
        "_issuer",
        "_kept",
        "_speech",
        "_thoughts",
        "_unbroken",
        "_usage",
        "notes",
        "progress",
    )

    def __init__(self, issuer: str) -> None:
        self.progress: Literal["waiting", "answering", "done"] = "waiting"
        self.notes: list[str] = []
        self._issuer = issuer
        self._body = ReplyBody()
        self._speech = Speech(issuer)
        self._thoughts = Thoughts()
        self._kept = Kept()
        self._calls = CallAssembly()
        self._usage = Usage()
        self._finish = ""
        self._failure: ModelError | None = None
        self._unbroken = 0

    def feed(self, data: bytes) -> Sequence[Delta]:
        """Return the deltas that these bytes complete."""
        out: list[Delta] = []
        if self._failure is not None:
            raise self._failure
        payloads = self._body.feed(data)
        if not payloads:
            self._limit(len(data))
            return out
        self._unbroken = 0
        try:
            self._take(payloads, out)
        except ModelError as error:
            if not out:
                raise
            self._failure = error  # what was said before it is heard first
            self.progress = "done"
        return out

    def _take(self, payloads: list[bytes], out: list[Delta]) -> None:
        speech, thoughts = self._speech, self._thoughts
        for payload in payloads:
            if payload == DONE:
                self.progress = "done"
                continue
            try:
                chunk = decode_chunk(payload)
            except ValueError:
                self._no_chunk(payload)
                continue
            text = plain_text(chunk)
            if text is None or self.progress != "answering" or thoughts.is_open:
                self._chunk(chunk, out)
            else:
                speech.text(text, out)

    def end(self) -> tuple[Sequence[Delta], Answer]:
        """The reply is over: return the last deltas and the answer."""
        out: list[Delta] = []
        if self._failure is not None:
            raise self._failure
        for payload in self._body.end():
            self._last(payload, out)
        if rest := self._thoughts.end():
            self._speech.reasoning(rest, out)
        self._speech.end(out)
        self._check_end()
        finish = FINISH.get(self._finish.lower(), "stop")
        calls, cut = self._calls.finish(self._issuer, is_cut=finish in {"length", "content_filter"})
        message = AssistantMessage((*self._kept.parts(self._issuer), *self._speech.parts(), *calls))
        return out, Answer(message, self._finished(finish, calls, cut), self._usage, cut)

    def partial(self) -> AssistantMessage:
        """What came so far, text and reasoning only, marked incomplete."""
        return AssistantMessage(self._speech.parts(), incomplete=True)

    @property
    def calls_begun(self) -> tuple[ToolCall, ...]:
        """The calls so far, complete or not: to be looked at, never to be run."""
        return tuple(draft.call(self._issuer) for draft in self._calls.drafts if draft.name)

    def _finished(self, finish: Finish, calls: list[ToolCall], cut: int) -> Finish:
        if calls:
            return "tool_calls"
        if self._speech.is_only_refusal:
            return "content_filter"
        if finish == "tool_calls":
            return "length" if cut else "stop"
        return finish

    def _check_end(self) -> None:
        if self._body.is_page:
            raise ModelUnavailable(
                "the model provider answered with a web page; check the route's baseUrl",
                operator=self._body.excerpt(),
            )
        if self._finish.lower() in _FAILED:
            raise failures.in_stream({"message": f"finish_reason {self._finish}"})
        if not self._finish and (self.progress != "done" or self._calls.has_open):
            raise StreamTruncated("the model provider's answer ended too early", operator=self._body.excerpt())

    def _limit(self, size: int) -> None:
        self._unbroken += size
        if self._body.is_document or self._body.is_page:
            self.progress = "answering"
        if self._unbroken > LARGEST_EVENT:
            raise ModelUnavailable("the model provider sent an event too large to take")

    def _last(self, payload: bytes, out: list[Delta]) -> None:
        """A payload after which nothing came, perhaps because it was cut off itself."""
        try:
            chunk = decode_chunk(payload)
        except ValueError:
            if payload.strip() == DONE:
                self.progress = "done"
            return
        self._chunk(chunk, out)

    def _no_chunk(self, payload: bytes) -> None:
        """Not a chunk: the end mark, a keep-alive in plain text, or a damaged chunk."""
        text = payload.strip()
        if text == DONE:
            self.progress = "done"
        elif text.startswith(b"{") and self.progress != "done":
            raise StreamTruncated(
                "the model provider's answer came damaged", operator=text[:1_000].decode("utf-8", "replace")
            )

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
