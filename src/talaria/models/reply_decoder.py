"""What the decoders of all dialects do alike: payloads out of bytes, and errors that wait for what was said before."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar, Final, Literal

from talaria.core.errors import ModelError, ModelUnavailable, StreamTruncated
from talaria.core.messages import AssistantMessage
from talaria.models.reply_body import ReplyBody
from talaria.ports.model import Answer, Delta

LARGEST_EVENT: Final = 32 * 1024 * 1024


class ReplyDecoder(ABC):
    """A `Decoder`. A dialect's own says what a payload means, and what all of them add up to."""

    __slots__ = ("_body", "_failure", "_issuer", "_unbroken", "notes", "progress")
    _begins: ClassVar[tuple[bytes, ...]] = (b"{",)  # what begins like this, and is no event, is damaged

    def __init__(self, issuer: str) -> None:
        self.progress: Literal["waiting", "answering", "done"] = "waiting"
        self.notes: list[str] = []
        self._issuer = issuer
        self._body = ReplyBody()
        self._failure: ModelError | None = None
        self._unbroken = 0

    def feed(self, data: bytes) -> Sequence[Delta]:
        """Return the deltas that these bytes complete."""
        out: list[Delta] = []
        if self._failure is not None:
            raise self._failure
        payloads = self._body.feed(data)
        if not payloads:
            self._wait(len(data))
            return out
        self._unbroken = 0
        try:
            for payload in payloads:
                self._payload(payload, out)
        except ModelError as error:
            if not out:
                raise
            self._failure = error  # what was said before it is heard first
            self.progress = "done"
        return out

    def end(self) -> tuple[Sequence[Delta], Answer]:
        """The reply is over: return the last deltas and the answer."""
        out: list[Delta] = []
        if self._failure is not None:
            raise self._failure
        for payload in self._body.end():
            self._last(payload, out)
        if self._body.is_page:
            page = "the model provider answered with a web page; check the route's baseUrl"
            raise ModelUnavailable(page, operator=self._body.excerpt())
        return out, self._answer(out)

    @abstractmethod
    def partial(self) -> AssistantMessage:
        """What came so far, text and reasoning only, marked incomplete."""

    @abstractmethod
    def _payload(self, payload: bytes, out: list[Delta]) -> None:
        """Take in one payload."""

    @abstractmethod
    def _answer(self, out: list[Delta]) -> Answer:
        """Return the answer that the payloads add up to, or raise an error if they don't."""

    def _last(self, payload: bytes, out: list[Delta]) -> None:
        """A payload after which nothing came: it may be cut off itself. Whether the answer is, `_answer` knows."""
        with suppress(StreamTruncated):
            self._payload(payload, out)

    def _ended_too_early(self) -> StreamTruncated:
        return StreamTruncated("the model provider's answer ended too early", operator=self._body.excerpt())

    def _no_event(self, payload: bytes) -> None:
        """A keep-alive in plain text, or a damaged event."""
        if self.progress != "done" and payload.lstrip().startswith(self._begins):
            excerpt = payload[:1_000].decode("utf-8", "replace")
            raise StreamTruncated("the model provider's answer came damaged", operator=excerpt)

    def _wait(self, size: int) -> None:
        self._unbroken += size
        if self.progress == "waiting" and (self._body.is_document or self._body.is_page):
            self.progress = "answering"
        if self._unbroken > LARGEST_EVENT:
            raise ModelUnavailable("the model provider sent an event too large to take")
