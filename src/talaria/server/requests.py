"""What clients send besides the chat request."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from talaria.runtime.body import Body

Identifier = Annotated[str, Field(min_length=1, max_length=256)]


class ApprovalRequest(Body):
    """A decision about an open question. Anything but the exact word APPROVE is no consent, and no answer."""

    request_id: Identifier
    decision: Literal["APPROVE", "DECLINE"]
    arguments: dict[str, Any] | None = None
    answer: str | None = None
    comment: Annotated[str, Field(max_length=10_000)] = ""
    remember: Literal["session"] | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> "ApprovalRequest":
        if self.decision == "DECLINE" and self.remember is not None:
            raise ValueError("remember goes with APPROVE only")
        return self


class ToolResultRequest(Body):
    """What came of a call that the caller ran: text, or any JSON value."""

    request_id: Identifier
    result: Any
    is_error: bool = False


class CancelRequest(Body):
    """Ask a run to end."""

    run_id: Identifier
