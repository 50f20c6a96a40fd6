"""Decodes one Responses reply: bytes, however they are cut, to deltas and an answer. No I/O."""

from typing import Any

from talaria.core.messages import AssistantMessage
from talaria.core.usage import Usage
from talaria.models import failures
from talaria.models.accounting import read_usage
from talaria.models.loose_json import as_object, as_string, objects
from talaria.models.reply_decoder import ReplyDecoder
from talaria.models.responses.events import Event, decode_event, error_of, response_of
from talaria.models.responses.items import CALL, MESSAGE, REASONING
from talaria.models.responses.output import Output
from talaria.ports.model import Answer, Delta, Finish

_ENDED = frozenset(("completed", "incomplete", "failed", "cancelled"))
_ENDS = frozenset(f"response.{status}" for status in (*_ENDED, "done"))
_LIMITS: dict[str, Finish] = {"max_output_tokens": "length", "content_filter": "content_filter"}


class ResponsesDecoder(ReplyDecoder):
    """A `Decoder` for responses, streamed or (where a server ignores `stream`) as one JSON document."""

    __slots__ = ("_limit", "_output", "_status", "_usage")

    def __init__(self, issuer: str) -> None:
        super().__init__(issuer)
        self._output = Output(self.notes)
        self._usage = Usage()
        self._status = ""
        self._limit: Finish | None = None

    def _payload(self, payload: bytes, out: list[Delta]) -> None:
        if self.progress == "done":
            return
        try:
            event = decode_event(payload)
        except ValueError:
            self._no_event(payload)
            return
        self._event(event, out)

    def _answer(self, out: list[Delta]) -> Answer:
        self._output.end(out)
        if not self._status:
            raise self._ended_too_early()
        parts, cut = self._output.parts(self._issuer, is_cut=self._limit is not None)
        message = AssistantMessage(parts)
        return Answer(message, self._finish(message, cut), self._usage, cut)

    def partial(self) -> AssistantMessage:
        """What came so far, text and reasoning only, marked incomplete."""
        return AssistantMessage(self._output.said(self._issuer), incomplete=True)

    def _finish(self, message: AssistantMessage, cut: int) -> Finish:
        if message.calls:
            return "tool_calls"
        if self._output.is_only_refusal:
            return "content_filter"
        return self._limit or ("length" if cut else "stop")

    def _event(self, event: Event, out: list[Delta]) -> None:
        match event.type:
            case "response.output_text.delta":
                self._output.at(event, MESSAGE).say(as_string(event.delta), out)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                item = self._output.at(event, REASONING)
                item.section((event.type, event.summary_index, event.content_index), out)
                item.say(as_string(event.delta), out)
            case "response.refusal.delta":
                self._output.at(event, MESSAGE).refuse(as_string(event.delta), out)
            case "response.function_call_arguments.delta":
                self._output.at(event, CALL).arguments += as_string(event.delta)
            case "response.output_item.added":
                self._output.begin(event, as_object(event.item))
            case "response.output_item.done":
                self._output.finish(event, as_object(event.item), out)
            case _:
                self._other(event, out)
        if self.progress == "waiting" and self._output.has_begun:
            self.progress = "answering"

    def _other(self, event: Event, out: list[Delta]) -> None:
        """The events that are about the whole response. All others only repeat what is known from the items."""
        if event.error or event.type in {"error", "response.error"}:
            raise failures.in_stream(error_of(event))
        if event.type in _ENDS or (not event.type and event.response is not None):
            self._ended(event.type.removeprefix("response."), response_of(event), out)

    def _ended(self, status: str, response: dict[str, Any], out: list[Delta]) -> None:
        said = as_string(response.get("status"))
        status = said if said in _ENDED else status
        self._usage = read_usage(response.get("usage"), self._usage)
        for change in objects(response.get("input_transformations")):
            self.notes.append(f"the provider changed its input: {change.get('action')} {change.get('reason')}"[:200])
        self._output.complete(objects(response.get("output")), out)
        if response.get("error") or status in {"failed", "cancelled"}:
            raise failures.in_stream(response.get("error") or {"message": f"the response is {status}"})
        if status == "incomplete":
            reason = as_string(as_object(response.get("incomplete_details")).get("reason"))
            self._limit = _LIMITS.get(reason, "length")
        self._status = status or "completed"
        self.progress = "done"
