"""Decodes one Messages reply: bytes, however they are cut, to deltas and an answer. No I/O."""

from typing import Any

from talaria.core.messages import AssistantMessage
from talaria.models import failures
from talaria.models.anthropic.blocks import Blocks
from talaria.models.anthropic.counts import Counts
from talaria.models.anthropic.events import Event, EventDelta, decode_event
from talaria.models.finish import settled
from talaria.models.loose_json import as_list, as_object, as_string, parse_object
from talaria.models.reply_decoder import ReplyDecoder
from talaria.ports.model import Answer, Delta, Finish

_FINISH: dict[str, Finish] = {
    **dict.fromkeys(("end_turn", "stop_sequence", "pause_turn"), "stop"),
    "tool_use": "tool_calls",
    **dict.fromkeys(("max_tokens", "model_context_window_exceeded"), "length"),
    "refusal": "content_filter",
}


class AnthropicDecoder(ReplyDecoder):
    """A `Decoder` for Messages, streamed or (where a server ignores `stream`) as one JSON document."""

    __slots__ = ("_blocks", "_counts", "_reason")

    def __init__(self, issuer: str) -> None:
        super().__init__(issuer)
        self._blocks = Blocks(issuer, self.notes)
        self._counts = Counts()
        self._reason = ""

    def _payload(self, payload: bytes, out: list[Delta]) -> None:
        try:
            event = decode_event(payload)
        except ValueError:
            self._no_event(payload)
            return
        delta = event.delta
        if delta is not None and delta.type == "text_delta" and self.progress == "answering" and delta.text:
            self._blocks.speech.text(delta.text, out)
        elif event.type == "message" and self.progress != "done":
            self._document(parse_object(payload), out)
        else:
            self._event(event, out)

    def _answer(self, out: list[Delta]) -> Answer:
        self._blocks.speech.end(out)
        if not self._reason and (self.progress != "done" or self._blocks.has_open):
            raise self._ended_too_early()
        finish = self._known_reason()
        is_cut = finish in {"length", "content_filter"}
        parts, cut = self._blocks.finish(is_cut=is_cut, is_refused=finish == "content_filter")
        message = AssistantMessage(parts)
        return Answer(message, settled(finish, calls=bool(message.calls), cut=cut), self._counts.usage(), cut)

    def partial(self) -> AssistantMessage:
        """What came so far, text and reasoning only, marked incomplete."""
        return AssistantMessage(self._blocks.speech.parts(), incomplete=True)

    def _known_reason(self) -> Finish:
        known = _FINISH.get(self._reason)
        if (known is None and self._reason) or self._reason == "pause_turn":
            self.notes.append(f"stop_reason {self._reason[:100]!r} is taken as the end of the answer")
        return known or "stop"

    def _document(self, message: dict[str, Any], out: list[Delta]) -> None:
        for index, block in enumerate(as_list(message.get("content"))):
            self._blocks.start(index, block, out)
            self._blocks.stop(index, out)
        self._counts.take(message.get("usage"))
        self._reason = as_string(message.get("stop_reason"))
        self.progress = "done"

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
                self._counts.take(as_object(event.message).get("usage"))
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
            details = as_object(delta.stop_details)
            self.notes.append(f"the model refused: {details.get('category')}: {str(details.get('explanation'))[:500]}")
        return delta.stop_reason
