"""What letters say: the bodies that go through the inbox."""

from typing import Any

import msgspec

from talaria.core.external import ExternalTool
from talaria.core.messages import Message
from talaria.core.principal import Principal
from talaria.core.skills import Skill
from talaria.core.subagents import Subagent
from talaria.journal.entries import Resolution
from talaria.journal.turn import OutputSpec, RunLimits, TurnOptions
from talaria.ports.inbox import Letter


class Attached(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A file that a request brings along, and what the request calls it."""

    artifact_id: str
    name: str


class TurnBody(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A request that waits to become a run. Secrets are not in it, only their names.

    `digest` tells whether a request with the same idempotency key is the same request. `bypass`: it wants to do without
    approvals. `notices`: what the client must be told of what it brought, each a code and a sentence.
    """

    query: str
    principal: Principal
    agent: str
    model: str
    limits: RunLimits
    options: TurnOptions = TurnOptions()
    system: str = ""
    tools: tuple[str, ...] | None = None
    history: tuple[Message, ...] = ()
    secrets: tuple[str, ...] = ()
    labels: dict[str, str] = {}
    detached: bool = True
    digest: str = ""
    output: OutputSpec | None = None
    bypass: bool = False
    attachments: tuple[Attached, ...] = ()
    subagents: tuple[Subagent, ...] = ()
    external: tuple[ExternalTool, ...] = ()
    notices: tuple[tuple[str, str], ...] = ()
    skills: tuple[Skill, ...] = ()


class DecisionBody(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What was decided about a question, by whom, `via` what.

    `arguments`: the edited ones, as JSON text. `answer`: the user's, or the caller's result (`is_error`: of a call that
    failed). `role`: an approver's. `for_user`: it was a question to the user or the caller, whatever became of it.
    """

    outcome: Resolution
    by: str = ""
    arguments: str = ""
    comment: str = ""
    remember: bool = False
    via: str = ""
    answer: str = ""
    role: str = ""
    for_user: bool = False
    is_error: bool = False


_encode = msgspec.json.Encoder().encode
_turn = msgspec.json.Decoder(TurnBody).decode
_decision = msgspec.json.Decoder(DecisionBody).decode


def encode_body(body: TurnBody | DecisionBody | dict[str, Any]) -> bytes:
    """A body as a letter carries it."""
    return _encode(body)


def read_turn(letter: Letter) -> TurnBody:
    """The body of a turn letter."""
    return _turn(letter.body)


def read_decision(letter: Letter) -> DecisionBody:
    """The body of a decision letter."""
    return _decision(letter.body)


def decision_letter(session: str, request_id: str, run: str, at: int, body: DecisionBody) -> Letter:
    """The letter that decides a question: its key is the question's id, so the first one is in force."""
    return Letter(session, request_id, "decision", run, at, _encode(body))


def cancel_letter(session: str, run: str, at: int) -> Letter:
    """The letter that cancels a run; a second one changes nothing."""
    return Letter(session, f"cancel:{run}", "cancel", run, at, b"{}")
