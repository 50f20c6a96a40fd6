"""One attempt at a model call: send, read within the time limits, decode; closed at once when it is let go."""

from collections.abc import AsyncIterator, Sequence

from talaria.core.errors import ModelError, ModelRejected, ModelUnavailable, StreamTruncated
from talaria.models import failures
from talaria.models.retry_after import retry_after
from talaria.models.routes import Route
from talaria.ports.clock import Clock
from talaria.ports.model import (
    Answer,
    Connection,
    Decoder,
    Delta,
    Dialect,
    HttpCall,
    HttpReply,
    ModelRequest,
    Transport,
)
from talaria.threads.watchdog import Watchdog

LONGEST_ERROR = 65_536
LONGEST_REPLY = 256 * 1024 * 1024
"""Bytes. A million tokens, each in an event of its own, take less."""
ERROR_TIMEOUT = 10.0
GRACE = 1.0
"""Seconds to wait, once the answer is over, for the end of the body that lets the connection be used again."""


class Attempt:
    """Asks once. `write`, `send`, `read` until it returns None, then `answer`; `close` in any case."""

    def __init__(
        self, route: Route, dialect: Dialect, connection: Connection, transport: Transport, clock: Clock
    ) -> None:
        self._route = route
        self._dialect = dialect
        self._connection = connection
        self._transport = transport
        self._clock = clock
        self._watchdog = Watchdog()
        self._decoder: Decoder | None = None  # not while the model thinks: most of the time there is nothing to decode
        self._reply: HttpReply | None = None
        self._chunks: AsyncIterator[bytes] | None = None
        self._answer: Answer | None = None
        self._call: HttpCall | None = None
        self._received = 0
        self.sent = 0

    @property
    def answer(self) -> Answer:
        """The answer, once there is nothing more to read."""
        assert self._answer is not None
        return self._answer

    @property
    def notes(self) -> Sequence[str]:
        """What was odd about the reply, for the operator's log."""
        assert self._decoder is not None
        return [self._route.without_secrets(note) for note in self._decoder.notes]

    def write(self, request: ModelRequest) -> None:
        """Write the request; `sent` is how many bytes it has."""
        self._call = self._dialect.request(request, self._connection)
        self.sent = len(self._call.body)

    async def send(self) -> None:
        """Send the request; return when an answer is coming."""
        call = self._call
        assert call is not None
        self._watchdog.arm(self._route.first_token_timeout)
        try:
            with self._watchdog:
                reply = await self._transport.send(call, connect_timeout=self._route.connect_timeout)
        except TimeoutError as error:
            raise self._too_late() from error
        except ModelError as error:
            raise self._masked(error) from error
        self._reply, self._chunks = reply, reply.chunks()
        self._decoder = self._dialect.decoder(self._connection)
        if reply.status >= 300:
            raise self._failure(reply, await self._error_body())

    async def read(self) -> Sequence[Delta] | None:
        """Return the deltas of the next network read that brings any; None when the answer is whole.

        Raises:
            ModelError: this attempt has failed.
        """
        decoder = self._decoder
        assert decoder is not None
        while self._answer is None:
            data = await self._next(decoder)
            self._received += len(data)
            if self._received > LONGEST_REPLY:
                raise ModelRejected("the model provider's answer does not end")
            try:
                deltas = decoder.feed(data) if data else self._end(decoder)
            except ModelError as error:
                raise self._masked(error) from error
            except RecursionError as error:
                raise ModelUnavailable("the model provider's answer is nested too deeply to be read") from error
            if deltas:
                return deltas
        return None

    async def close(self) -> None:
        """Let go of the connection: at once, unless the reply was read to its end."""
        self._watchdog.cancel()
        if self._reply is not None:
            await self._reply.close()

    def _end(self, decoder: Decoder) -> Sequence[Delta]:
        deltas, self._answer = decoder.end()
        return deltas

    async def _next(self, decoder: Decoder) -> bytes:
        """Return the next bytes, or none at the end."""
        assert self._reply is not None
        assert self._chunks is not None
        if self._reply.is_read:
            return b""
        progress = decoder.progress
        if progress != "waiting":
            self._watchdog.arm(self._route.idle_timeout if progress == "answering" else GRACE)
        try:
            with self._watchdog:
                return await anext(self._chunks)
        except StopAsyncIteration:
            return b""
        except TimeoutError as error:
            if progress == "done":
                return b""
            raise self._too_late() from error
        except ModelUnavailable as error:
            return self._broken(decoder, error)

    def _broken(self, decoder: Decoder, error: ModelUnavailable) -> bytes:
        """The connection broke: an answer that was whole by then is taken all the same."""
        try:
            self._end(decoder)
        except (ModelError, RecursionError):
            raise self._masked(
                StreamTruncated("the connection to the model provider broke", operator=error.operator)
            ) from error
        return b""

    def _too_late(self) -> ModelUnavailable:
        if self._decoder is None or self._decoder.progress == "waiting":
            return ModelUnavailable(f"the model did not begin to answer within {self._route.first_token_timeout:g} s")
        return ModelUnavailable(f"the model's answer stopped for more than {self._route.idle_timeout:g} s")

    async def _error_body(self) -> bytes:
        """Return the beginning of the body of an error reply, as far as it comes in time."""
        assert self._chunks is not None
        self._watchdog.arm(ERROR_TIMEOUT)
        body = bytearray()
        try:
            with self._watchdog:
                async for data in self._chunks:
                    body += data
                    if len(body) > LONGEST_ERROR:
                        break
        except (TimeoutError, ModelUnavailable):
            pass  # the status says enough
        return bytes(body[:LONGEST_ERROR])

    def _failure(self, reply: HttpReply, body: bytes) -> ModelError:
        error = self._dialect.failure(reply.status, reply.headers, body)
        error = failures.of_route(error, self._route.prefix, self._connection.model)
        if error.retryable:
            asked = retry_after(reply.headers, self._clock.now())
            error.retry_after = error.retry_after if asked is None else asked
        return self._masked(error)

    def _masked(self, error: ModelError) -> ModelError:
        error.operator = self._route.without_secrets(error.operator)
        return error
