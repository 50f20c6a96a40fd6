"""Decodes one Messages reply: bytes, however they are cut, to deltas and an answer. No I/O."""

from collections.abc import Sequence
from typing import Any, Literal, cast

from talaria.core.errors import ModelError, ModelUnavailable, StreamTruncated
from talaria.core.messages import AssistantMessage, ToolCall
from talaria.models import failures
from talaria.models.anthropic.blocks import Blocks
from talaria.models.anthropic.counts import Counts
from talaria.models.anthropic.events import Event, EventDelta, decode_event, decode_object, fields_of
from talaria.models.reply_body import ReplyBody
from talaria.ports.model import Answer, Delta, Finish

LARGEST_EVENT = 32 * 1024 * 1024
_FINISH: dict[str, Finish] = {
    **dict.fromkeys(("end_turn", "stop_sequence", "pause_turn"), "stop"),
    "tool_use": "tool_calls",
    **dict.fromkeys(("max_tokens", "model_context_window_exceeded"), "length"),
    "refusal": "content_filter",
}


class AnthropicDecoder:
    """A `Decoder` for Messages, streamed or (where a server ignores `stream`) as one JSON document."""

    __slots__ = ("_blocks", "_body", "_counts", "_failure", "_issuer", "_reason", "_unbroken", "notes", "progress")

    def __init__(self, issuer: str) -> None:
        self.progress: Literal["waiting", "answering", "done"] = "waiting"
        self.notes: list[str] = []
        self._issuer = issuer
        self._body = ReplyBody()
        self._blocks = Blocks(issuer, self.notes)
        self._counts = Counts()
        self._reason = ""
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
        say = self._blocks.speech.text
        for payload in payloads:
            try:
                event = decode_event(payload)
            except ValueError:
                self._no_event(payload)
                continue
            delta = event.delta
            if delta is not None and delta.type == "text_delta" and self.progress == "answering" and delta.text:
                say(delta.text, out)
            else:
                self._event(event, out)

    def end(self) -> tuple[Sequence[Delta], Answer]:
        """The reply is over: return the last deltas and the answer."""
        out: list[Delta] = []
        if self._failure is not None:
            raise self._failure
        for payload in self._body.end():
            self._last(payload, out)
        self._blocks.speech.end(out)
        self._check_end()
        finish = self._known_reason()
        is_cut = finish in {"length", "content_filter"}
        parts, cut = self._blocks.finish(is_cut=is_cut, is_refused=finish == "content_filter")
        message = AssistantMessage(parts)
        if message.calls:
            finish = "tool_calls"
        elif finish == "tool_calls":
            finish = "length" if cut else "stop"
        return out, Answer(message, finish, self._counts.usage(), cut)

    def partial(self) -> AssistantMessage:
        """What came so far, text and reasoning only, marked incomplete."""
        return AssistantMessage(self._blocks.speech.parts(), incomplete=True)

    @property
    def calls_begun(self) -> tuple[ToolCall, ...]:
        """The calls so far, complete or not: to be looked at, never to be run."""
        return tuple(draft.call(self._issuer) for draft in self._blocks.drafts if draft.name)

    def _known_reason(self) -> Finish:
        known = _FINISH.get(self._reason)
        if (known is None and self._reason) or self._reason == "pause_turn":
            self.notes.append(f"stop_reason {self._reason[:100]!r} is taken as the end of the answer")
        return known or "stop"

    def _check_end(self) -> None:
        if self._body.is_page:
            raise ModelUnavailable(
                "the model provider answered with a web page; check the route's baseUrl",
                operator=self._body.excerpt(),
            )
        if not self._reason and (self.progress != "done" or self._blocks.has_open):
            raise StreamTruncated("the model provider's answer ended too early", operator=self._body.excerpt())

    def _limit(self, size: int) -> None:
        self._unbroken += size
        if self._body.is_document or self._body.is_page:
            self.progress = "answering"
        if self._unbroken > LARGEST_EVENT:
            raise ModelUnavailable("the model provider sent an event too large to take")

    def _last(self, payload: bytes, out: list[Delta]) -> None:
        """A payload after which nothing came, perhaps because it was cut off itself; or a whole document."""
        try:
            value = decode_object(payload)
        except ValueError:
            return
        if value.get("type") == "message":
            self._document(value, out)
        else:
            self._event(decode_event(payload), out)

    def _document(self, message: dict[str, Any], out: list[Delta]) -> None:
        content = message.get("content")
        for index, block in enumerate(cast("list[Any]", content) if isinstance(content, list) else ()):
            self._blocks.start(index, block, out)
            self._blocks.stop(index, out)
        self._counts.take(message.get("usage"))
        reason = message.get("stop_reason")
        self._reason = reason if isinstance(reason, str) else ""
        self.progress = "done"

    def _no_event(self, payload: bytes) -> None:
        """Not an event: a keep-alive in plain text, or a damaged event."""
        text = payload.strip()
        if text.startswith(b"{") and self.progress != "done":
            raise StreamTruncated(
                "the model provider's answer came damaged", operator=text[:1_000].decode("utf-8", "replace")
            )

    def _event(self, event: Event, out: list[Delta]) -> None:
        if event.error:
            raise failures.in_stream(event.error)
        if self.progress == "done":
            return
        match event.type:
            case "content_block_delta" if event.delta is not None:
                self.progress = "answering"
                self._blocks.add(event.index, event.delta, out)
            case "content_block_start":
                self.progress = "answering"
                self._blocks.start(event.index, event.content_block, out)
            case "content_block_stop":
                self._blocks.stop(event.index, out)
            case "message_start":
                self._counts.take(fields_of(event.message).get("usage"))
            case "message_delta":
                self._counts.take(event.usage)
                self._reason = self._stopped(event.delta)
            case "message_stop":
                self.progress = "done"
            case _:
                pass

    def _stopped(self, delta: EventDelta | None) -> str:
        if delta is None or not delta.stop_reason:
            return self._reason
        if delta.stop_reason == "refusal":
            details = fields_of(delta.stop_details)
            self.notes.append(f"the model refused: {details.get('category')}: {str(details.get('explanation'))[:500]}")
        return delta.stop_reason
