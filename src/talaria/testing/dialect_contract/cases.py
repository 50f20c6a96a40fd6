"""The cases of a dialect: what the wire brings, and what that means."""

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec
import pytest

from talaria.core.errors import ModelError
from talaria.core.messages import ToolCall
from talaria.core.usage import Usage
from talaria.ports.model import Answer, Connection, Delta, Dialect, Finish, ReasoningDelta, TextDelta

MODEL = "model-of-the-contract"
KEY = "the-key-of-the-contract"
"""The key that `connect` gives its connection."""


class Reply(msgspec.Struct, frozen=True):
    """A whole reply with status 200, and the answer that it is.

    `calls`: (the provider's id, name, arguments as a value). `usage` None: it is not looked at.
    """

    name: str
    body: bytes
    text: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, str, Any], ...] = ()
    finish: Finish | None = None
    usage: Usage | None = None
    cut_calls: int = 0

    def check(self, deltas: Sequence[Delta], answer: Answer) -> None:
        """Fail unless that is what the reply means.

        Raises:
            AssertionError: it is not.
        """
        message = answer.message
        assert (message.text, message.reasoning) == (self.text, self.reasoning)
        assert _joined(deltas, TextDelta) == self.text
        assert _joined(deltas, ReasoningDelta) == self.reasoning
        assert all(delta.text for delta in deltas), "a delta is empty"
        assert [shown(call) for call in message.calls] == list(self.calls)
        assert answer.finish == (self.finish or ("tool_calls" if self.calls else "stop"))
        assert answer.cut_calls == self.cut_calls
        assert not message.incomplete
        if self.usage is not None:
            assert answer.usage == self.usage


class Broken(msgspec.Struct, frozen=True):
    """A reply with status 200 that says within itself that it failed; `words` are the provider's own."""

    name: str
    body: bytes
    error: type[ModelError]
    words: str
    text: str = ""


class Refused(msgspec.Struct, frozen=True):
    """A reply with another status; `words` are the provider's own."""

    status: int
    body: bytes
    error: type[ModelError]
    words: str
    headers: tuple[tuple[str, str], ...] = ()


class Cases:
    """The hooks. Tests that take a `reply`, `broken` or `refused` run for each of them."""

    replies: ClassVar[Sequence[Reply]] = ()
    broken: ClassVar[Sequence[Broken]] = ()
    refused: ClassVar[Sequence[Refused]] = ()

    def make(self) -> Dialect:
        """Make a dialect."""
        raise NotImplementedError

    def connect(self, key: str) -> Connection:
        """Return a connection to a provider, with this key."""
        return Connection("https://api.example.com/v1", MODEL, "the-contract", key)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run a test once for each of the cases it takes."""
        for name, cases in (("reply", self.replies), ("broken", self.broken), ("refused", self.refused)):
            if f"a_{name}" in metafunc.fixturenames:
                metafunc.parametrize(f"a_{name}", cases, ids=[str(getattr(each, "name", each)) for each in cases])


def shown(call: ToolCall) -> tuple[str, str, Any]:
    """A call as `Reply.calls` has it."""
    return (call.provider_id or call.id, call.name, json.loads(call.arguments))


def decode(dialect: Dialect, connection: Connection, parts: Sequence[bytes]) -> tuple[list[Delta], Answer]:
    """Return the deltas and the answer of a reply that comes in these parts."""
    decoder = dialect.decoder(connection)
    deltas: list[Delta] = []
    for part in parts:
        deltas += decoder.feed(part)
    last, answer = decoder.end()
    return [*deltas, *last], answer


def _joined(deltas: Sequence[Delta], kind: type[Delta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, kind))
