"""Decodes one reply of a private protocol: bytes, however they are cut, to deltas and an answer. No I/O."""

from typing import Any, Final

from talaria.core.errors import ModelRejected, StreamTruncated
from talaria.core.messages import AssistantMessage
from talaria.core.usage import Usage
from talaria.models import failures
from talaria.models.calls import CallAssembly
from talaria.models.finish import settled
from talaria.models.loose_json import parse
from talaria.models.mapped.paths import Getter
from talaria.models.mapped.reading import Reading
from talaria.models.reply_decoder import ReplyDecoder
from talaria.models.speech import Speech
from talaria.ports.model import Answer, Delta, Finish

DONE: Final = b"[DONE]"
_HIGH = ("\ud800", "\udbff")


class MappedDecoder(ReplyDecoder):
    """A `Decoder` for event streams, JSON lines, and one JSON document."""

    __slots__ = ("_calls", "_finish", "_reading", "_seen", "_speech", "_usage")
    _begins = (b"{", b"[")

    def __init__(self, reading: Reading, issuer: str) -> None:
        super().__init__(issuer)
        self._reading = reading
        self._speech = Speech(issuer)
        self._calls = CallAssembly()
        self._seen = {"text": "", "reasoning": ""}
        self._usage = Usage()
        self._finish: Finish | None = None

    def _answer(self, out: list[Delta]) -> Answer:
        self._speech.end(out)
        self._check_end()
        finish = self._finish or "stop"
        calls, cut = self._calls.finish(self._issuer, is_cut=finish in {"length", "content_filter"})
        message = AssistantMessage((*self._speech.parts(), *calls))
        return Answer(message, settled(finish, calls=bool(calls), cut=cut), self._usage, cut)

    def partial(self) -> AssistantMessage:
        """What came so far, text and reasoning only, marked incomplete."""
        return AssistantMessage(self._speech.parts(), incomplete=True)

    def _payload(self, payload: bytes, out: list[Delta]) -> None:
        if self.progress == "done":
            return  # nothing counts after the end mark
        if payload == DONE or payload.strip() == self._reading.end:
            self.progress = "done"
            return
        try:
            event = parse(payload)
        except ValueError:
            self._no_event(payload)
            return
        self._event(event, out)

    def _last(self, payload: bytes, out: list[Delta]) -> None:
        """Where a protocol has no end mark, nothing but the damage tells that an answer was cut off."""
        self._payload(payload, out)

    def _event(self, event: Any, out: list[Delta]) -> None:
        reading = self._reading
        if reading.error is not None and (error := reading.error.of(event)) is not None:
            raise failures.in_stream(error)
        if reading.reasoning is not None and (thought := self._new(event, reading.reasoning, "reasoning")):
            self._speech.reasoning(thought, out)
        if text := self._new(event, reading.text, "text"):
            self._speech.text(text, out)
        if reading.calls is not None and (entries := reading.calls.of(event)):
            if reading.cumulative:
                self._calls = CallAssembly()
            self._calls.take(entries)
        if reading.usage is not None:
            self._usage = reading.usage.of(event, self._usage)
        self._finishes(event)
        if self.progress == "waiting" and not (self._speech.is_silent and not self._calls.drafts):
            self.progress = "answering"

    def _new(self, event: Any, get: Getter, what: str) -> str:
        """Return the text of an event that was not said yet."""
        value = get(event)
        if type(value) is not str or not value:
            if value is not None and value != "":
                self._note(f"what the mapping calls {what} is no text but {type(value).__name__}")
            return ""
        if not self._reading.cumulative:
            return value
        if _HIGH[0] <= value[-1] <= _HIGH[1]:
            value = value[:-1]  # half a character: it comes whole in the next event
        seen = self._seen[what]
        if value.startswith(seen):
            self._seen[what] = value
            return value[len(seen) :]
        if seen.startswith(value):
            return ""
        raise ModelRejected(
            "the model provider changed what it had said; check whether its route's mapping is really cumulative",
            operator=f"{what}: {seen[-100:]!r}, then {value[-100:]!r}",
        )

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def _finishes(self, event: Any) -> None:
        finish, word = self._reading.finish_of(event)
        if finish is None:
            return
        if not self._reading.knows(word):
            self._note(f"finish {word[:100]!r} is not known, taken as 'stop'; see the mapping's finishReasons")
        if self._finish not in {"length", "content_filter"}:
            self._finish = finish

    def _check_end(self) -> None:
        is_over = self._finish is not None or self.progress == "done"
        if (self._reading.says_its_end and not is_over) or (self._calls.has_open and self._finish is None):
            raise self._ended_too_early()
        if self._speech.is_silent and not self._calls.drafts:
            if self._finish is None:
                nothing = "the model provider's answer has nothing in it where its route's mapping looks for text"
                raise StreamTruncated(nothing, operator=f"text: {self._reading.where}; {self._body.excerpt()}")
            self._note(f"the answer has nothing at {self._reading.where}")
