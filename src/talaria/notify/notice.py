"""A notice: what is told of one entry, as it waits in the outbox and as it is sent."""

import json
import re
from typing import Literal

import msgspec

from talaria.core.ids import SessionKey
from talaria.core.usage import Usage

Event = Literal["approval_request", "question", "finish", "error"]
LONGEST = 4_000
"""Characters of arguments in a notice."""


class NoticeRow(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A delivery that has not been made. `at`: when it happened, in ms; `session`: a path; `tries`: those that failed.

    Of a question there is only its id: what it asks is looked up when it is sent, if it is still open then. `roles` are
    those of the run's user; `reason` is that of the finish, or the code of the error, and `message` its sentence.
    """

    event: Event
    at: int
    session: str
    run: str
    agent: str
    roles: tuple[str, ...] = ()
    request_id: str = ""
    reason: str = ""
    message: str = ""
    usage: Usage = Usage()
    tries: int = 0


class Asked(msgspec.Struct, frozen=True, gc=False):
    """What a person is asked about: a call, its arguments masked and whole, and until when (ms)."""

    call_id: str
    tool: str
    arguments: str
    expires_at: int


class Notice(msgspec.Struct, frozen=True, gc=False):
    """What a template is given. `id` is the same at every try; `link` decides, where there is one."""

    id: str
    row: NoticeRow
    asked: Asked | None = None
    link: str = ""

    @property
    def key(self) -> SessionKey:
        """Whose session it is about."""
        return SessionKey.parse(self.row.session)


_TURNING = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


def visible(text: str) -> str:
    """JSON with escapes for characters that are not seen, or turn others around: people decide about what they see."""
    return _TURNING.sub(lambda found: json.dumps(found[0])[1:-1], text)


def cut(text: str, limit: int) -> str:
    """The beginning of a text that is too long."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
