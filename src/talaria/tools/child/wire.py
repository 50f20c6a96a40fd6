"""What goes to a child process and what comes back: JSON, each message after its length in 4 bytes."""

from collections.abc import Callable
from typing import Any, BinaryIO

import msgspec

from talaria.core.principal import Principal


class Job(msgspec.Struct, frozen=True, gc=False):
    """A call. `arguments` fit the tool's schema; `is_bound`: the function takes what its signature says, not JSON.

    `seconds` are left until the deadline. Live objects (the agent's deps) stay behind.
    """

    path: tuple[str, ...]
    module: str
    function: str
    tool: str
    description: str
    is_bound: bool
    says_nothing: bool
    arguments: dict[str, Any]
    secrets: dict[str, str]
    principal: Principal
    session: str
    variables: dict[str, Any]
    run_id: str
    tool_call_id: str
    idempotency_key: str
    seconds: float | None


class Emits(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The tool says something to the client."""

    name: str
    data: Any


class Outputs(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The tool puts out text."""

    text: str


class Returned(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The call is over, with this result."""

    text: str


class Raised(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The call is over, with an error in words. `is_stop`: it ends the run; `is_result`: of the result only."""

    text: str
    is_stop: bool = False
    is_result: bool = False
    may_retry: bool = False


Message = Emits | Outputs | Returned | Raised

_encode = msgspec.json.Encoder().encode
_decode: Callable[[bytes], Message] = msgspec.json.Decoder(Message).decode


def framed(value: Job | Message) -> bytes:
    """The message's length in 4 bytes, then the message."""
    data = _encode(value)
    return len(data).to_bytes(4, "big") + data


def read_job(data: bytes) -> Job:
    """The inverse of `framed`, less the length."""
    return msgspec.json.decode(data, type=Job)


def read_message(pipe: BinaryIO) -> Message | None:
    """Return the next message, or None when the other side is gone."""
    head = pipe.read(4)
    size = int.from_bytes(head, "big")
    data = pipe.read(size) if len(head) == 4 else b""
    return _decode(data) if data and len(data) == size else None
