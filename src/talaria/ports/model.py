"""Models: what the loop asks, and what comes back. Dialects of one's own import from here: these names stay."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any, Literal, Protocol

import msgspec

from talaria.core.errors import ModelError
from talaria.core.messages import AssistantMessage, Message
from talaria.core.usage import Usage
from talaria.ports.profile import Profile


class ToolSpec(msgspec.Struct, frozen=True, gc=False):
    """A tool as a model sees it. `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: dict[str, Any]


class Prompt:
    """The system prompt, the tools, and a list of messages that only grows: what a conversation's requests share.

    `cache` belongs to the dialects: each keeps what it has encoded there, so a message is encoded once.
    When the beginning changes, a new Prompt is made.
    """

    __slots__ = ("cache", "messages", "system", "tools")

    def __init__(self, system: str = "", tools: Sequence[ToolSpec] = (), messages: Sequence[Message] = ()) -> None:
        self.system = system
        self.tools = tuple(tools)
        self.messages = list(messages)
        self.cache: dict[Any, Any] = {}


class ModelRequest(msgspec.Struct, frozen=True, gc=False):
    """One model call. `model` is the name as the client gave it; None leaves a choice to the provider.

    `output_schema`: the JSON Schema (of type object) that the answer's text must fit, for models that see to that.
    `reasoning_back`: False leaves all earlier reasoning out, as if another model had thought it.
    """

    model: str
    prompt: Prompt
    thinking: Literal["enabled", "disabled"] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    tool_choice: Literal["auto", "none", "required"] = "auto"
    user: str = ""
    assistant: str = ""
    run_id: str = ""
    output_schema: dict[str, Any] | None = None
    reasoning_back: bool = True


class TextDelta(msgspec.Struct, frozen=True, gc=False):
    """A piece of the answer, as the provider cut it. Never empty."""

    text: str


class ReasoningDelta(msgspec.Struct, frozen=True, gc=False):
    """A piece of the model's reasoning. Never empty."""

    text: str


class Restart(msgspec.Struct, frozen=True, gc=False):
    """The attempt so far is void: everything said since the last Restart is said again from the beginning.

    `reason` is a sentence for a person, without the provider's words; `wait` is how many seconds until then.
    `notice` is the code of the notice that clients get.
    """

    reason: str
    wait: float = 0.0
    notice: str = "retrying"


class Downgraded(msgspec.Struct, frozen=True, gc=False):
    """Something was asked for that the model does not take, and is done without: `reason` says what, to a person."""

    reason: str


Finish = Literal["stop", "tool_calls", "length", "content_filter"]


class Answer(msgspec.Struct, frozen=True, gc=False):
    """The whole answer: always the last thing that a model stream yields.

    The text and reasoning of `message` are the joined deltas since the last Restart, part by part.
    Calls are in order of first appearance and complete; `cut_calls` counts calls that a token limit cut off,
    which are not in the message. Ids are the provider's, possibly empty or repeated.
    `reasoning_refused`: the provider did not take earlier reasoning back, and the answer was made without it.
    """

    message: AssistantMessage
    finish: Finish
    usage: Usage
    cut_calls: int = 0
    reasoning_refused: bool = False


Delta = TextDelta | ReasoningDelta
ModelItem = TextDelta | ReasoningDelta | Downgraded | Restart | Answer


class Model(Protocol):
    """Answers requests. What a provider is, is nobody else's business."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelItem], None]:
        """Yield what came in each network read, as it comes, and the Answer last.

        Closing the iterator (or cancelling the task) closes the connection at once.

        Raises:
            ModelError: there will be no answer, after all retries. The deltas so far stand.
        """
        ...


class Connection(msgspec.Struct, frozen=True, gc=False):
    """One model of one provider, and how it is reached.

    `issuer` names whose reasoning and signatures its answers carry: what a model signs goes back to that model at that
    provider only, unchanged. `headers` are the configured ones.
    """

    base_url: str
    model: str
    issuer: str
    api_key: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    profile: Profile = Profile()

    def __repr__(self) -> str:
        return f"Connection({self.issuer!r})"


class HttpCall(msgspec.Struct, frozen=True, gc=False):
    """An HTTP request, made by a dialect, sent by a transport."""

    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    method: str = "POST"

    def __repr__(self) -> str:
        return f"HttpCall({self.method} {self.url!r}, {len(self.body)} bytes)"


class HttpReply(Protocol):
    """A reply whose head is here and whose body is still coming."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        """Names in lower case."""
        ...

    @property
    def is_read(self) -> bool:
        """Whether the body is known to have been read to its end."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as the network brings it; never an empty piece.

        Raises:
            ModelUnavailable: the connection broke.
        """
        ...

    async def close(self) -> None:
        """Close the connection unless the body was read to its end."""
        ...


class Transport(Protocol):
    """Sends HTTP calls."""

    async def send(self, call: HttpCall, *, connect_timeout: float) -> HttpReply:
        """Send and return once the head of the reply is here. No other time limit than that for connecting.

        Raises:
            ModelUnavailable: no connection, or it broke.
        """
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class Decoder(Protocol):
    """Takes in one reply's bytes, however they are cut. Has no I/O."""

    @property
    def progress(self) -> Literal["waiting", "answering", "done"]:
        """Nothing of the answer came yet; some of it came; the format said that it is over, nothing more will count."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What was odd about the reply, for the operator's log."""
        ...

    def feed(self, data: bytes) -> Sequence[Delta]:
        """Return the deltas that these bytes complete.

        Raises:
            ModelError: the provider says within the stream that it failed.
        """
        ...

    def end(self) -> tuple[Sequence[Delta], Answer]:
        """The reply is over: return the last deltas and the answer.

        Raises:
            StreamTruncated: it was over too early; `partial()` has what came.
        """
        ...

    def partial(self) -> AssistantMessage:
        """What came so far, text and reasoning only, marked incomplete."""
        ...


class Dialect(Protocol):
    """A wire format: functions without I/O. One instance serves every route and conversation."""

    def request(self, request: ModelRequest, connection: Connection) -> HttpCall:
        """Write the HTTP call that asks `request` at a connection. `request.model` is the connection's."""
        ...

    def decoder(self, connection: Connection) -> Decoder:
        """Return a decoder for one reply."""
        ...

    def failure(self, status: int, headers: Sequence[tuple[str, str]], body: bytes) -> ModelError:
        """Return the error that a reply with status >= 300 means; the provider's words go to `operator`."""
        ...
