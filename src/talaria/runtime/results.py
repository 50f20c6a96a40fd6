"""What a program gets of a run."""

from typing import Any

import msgspec

from talaria.core.errors import (
    CapabilityMissing,
    ContextOverflow,
    InternalError,
    InvalidRequest,
    ModelRejected,
    ModelUnavailable,
    NotFound,
    OutputInvalid,
    SandboxUnavailable,
    SecretsLost,
    StreamTruncated,
    TalariaError,
    ToolFailed,
)
from talaria.core.messages import Message
from talaria.core.usage import Usage
from talaria.journal.entries import RunFinished
from talaria.journal.state import SessionState
from talaria.ports.model import Prompt

_BY_CODE: dict[str, type[TalariaError]] = {
    kind.code: kind
    for kind in (
        CapabilityMissing,
        ContextOverflow,
        InvalidRequest,
        ModelRejected,
        ModelUnavailable,
        NotFound,
        OutputInvalid,
        SandboxUnavailable,
        SecretsLost,
        StreamTruncated,
        ToolFailed,
    )
}


class RunResult:
    """How a run ended. `text` is the final answer's text; `finish_reason` as in the stream's finish event.

    `output` is the answer: its text, or, where there is a schema for it, the JSON value or the value of the agent's
    `output_type`; then it is None if the run ended without a valid answer.
    """

    def __init__(self, run_id: str, session_id: str, text: str, finish_reason: str, usage: Usage) -> None:
        self.run_id = run_id
        self.session_id = session_id
        self.text = text
        self.output: Any = text
        self.finish_reason = finish_reason
        self.usage = usage
        self._prompt: Prompt | None = None
        self._count = 0

    def __repr__(self) -> str:
        return f"RunResult({self.run_id!r}, {self.finish_reason!r}, {self.text[:60]!r})"

    def hold(self, prompt: Prompt) -> "RunResult":
        """Remember the history as it is now, without copying it: it only grows."""
        self._prompt, self._count = prompt, len(prompt.messages)
        return self

    @property
    def messages(self) -> tuple[Message, ...]:
        """The session's messages up to the end of this run."""
        return tuple(self._prompt.messages[: self._count]) if self._prompt is not None else ()


def result_of(state: SessionState, end: RunFinished) -> RunResult:
    """The result of a run; `state` is the session's right after its end.

    Raises:
        TalariaError: the run ended with an error.
    """
    if end.error:
        raise run_error(end.error, end.message)
    run = state.run
    said = run.last.message.text if run is not None and run.last is not None else ""
    result = RunResult(end.run, state.key.session, end.answer or said, end.reason, end.usage).hold(state.prompt)
    if run is not None and run.turn.output is not None:
        result.output = msgspec.json.decode(end.answer) if end.answer else None
    return result


def run_error(code: str, message: str) -> TalariaError:
    """The exception that an error event stands for."""
    return _BY_CODE.get(code, InternalError)(message)
