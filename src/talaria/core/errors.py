"""Everything that can go wrong, as one tree.

TalariaError                code, message for a person, whether a retry can help
├── InvalidRequest          invalid_request      the request itself is wrong; `errors` name the fields
├── Unauthenticated         unauthenticated
├── Forbidden               forbidden
├── NotFound                not_found            also: it belongs to someone else
├── Conflict                conflict             somebody else was first
├── QuotaExceeded           quota_exceeded       retry_after seconds
├── Overloaded              overloaded           retry_after seconds
├── ModelError              a model could not answer; `operator` holds the provider's words, for the log only
│   ├── ModelUnavailable    model_unavailable    no connection, 5xx, time-outs, rate limits
│   ├── ModelRejected       model_rejected       the provider refused the request
│   ├── StreamTruncated     stream_truncated     the stream ended before the answer did
│   └── ContextOverflow     context_overflow     the request is larger than the model's window
├── OutputInvalid           output_invalid       the model gave no usable answer
├── CapabilityMissing       capability_missing
├── ToolFailed              tool_failed          a tool raised StopRun
├── SecretsLost             secrets_lost         a resumed run needs secrets that died with the process
├── SandboxUnavailable      sandbox_unavailable  no sandbox can be started here, or now
│   └── SandboxLost         sandbox_unavailable  the one in use is gone, with what ran in it
├── FetchFailed             fetch_failed         what a URL names could not be had
│   └── FetchRefused        fetch_failed         a URL that may not be opened here
├── ConfigurationError      configuration        talaria.yaml or the environment; names the key
├── JournalError            internal
│   ├── SeqConflict         internal             somebody appended in between
│   ├── StaleOwner          internal             the lease went to another owner
│   └── StoreClosed         internal             the store is closed or broken
└── InternalError           internal             an id to look up in the log
"""

from enum import Enum
from typing import ClassVar


class TalariaError(Exception):
    """The root. `message` is for a person and says what to do next; `code` is stable."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, retry_after: float | None = None, operator: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.retry_after = retry_after
        self.operator = operator


class InvalidRequest(TalariaError):
    """The request is wrong; `errors` has one entry a field: {"field": …, "message": …}."""

    code = "invalid_request"

    def __init__(self, message: str, errors: tuple[dict[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.errors = errors


class Unauthenticated(TalariaError):
    """No credential, or one that is not known."""

    code = "unauthenticated"


class Forbidden(TalariaError):
    """The credential is good, the act is not allowed to it."""

    code = "forbidden"


class NotFound(TalariaError):
    """There is no such thing for this principal."""

    code = "not_found"


class Conflict(TalariaError):
    """Somebody else was first; `current` tells what is in force."""

    code = "conflict"

    def __init__(self, message: str, current: dict[str, object] | None = None) -> None:
        super().__init__(message)
        self.current = current or {}


class QuotaExceeded(TalariaError):
    """A budget is used up: `quota` says which as the configuration calls it, `remaining` what is left of it."""

    code = "quota_exceeded"
    retryable = True

    def __init__(
        self, message: str, *, quota: str = "", remaining: float = 0, retry_after: float | None = None
    ) -> None:
        super().__init__(message, retry_after=retry_after)
        self.quota = quota
        self.current = {"quota": quota, "remaining": remaining}


class Overloaded(TalariaError):
    """Every place to run or wait is taken."""

    code = "overloaded"
    retryable = True


class Fault(Enum):
    """What a model call failed at, where another key, another model or a smaller request can help."""

    NONE = "none"
    KEY = "key"
    MONEY = "money"
    RATE = "rate"
    MODEL = "model"
    REASONING = "reasoning"


class ModelError(TalariaError):
    """A model could not answer. `fault` says what would help."""

    code = "model_unavailable"
    fault = Fault.NONE


class ModelUnavailable(ModelError):
    """No connection, a server error, a time-out or a rate limit."""

    retryable = True


class ModelRejected(ModelError):
    """The provider refused the request; sending it again will not help."""

    code = "model_rejected"


class StreamTruncated(ModelError):
    """The stream ended before the answer did."""

    code = "stream_truncated"
    retryable = True


class ContextOverflow(ModelError):
    """The request is larger than the model's window."""

    code = "context_overflow"


class OutputInvalid(TalariaError):
    """The model gave no usable answer."""

    code = "output_invalid"


class CapabilityMissing(TalariaError):
    """The model cannot do what the request needs."""

    code = "capability_missing"


class ToolFailed(TalariaError):
    """A tool raised StopRun."""

    code = "tool_failed"


class SecretsLost(TalariaError):
    """A resumed run needs secrets that died with the process."""

    code = "secrets_lost"


class SandboxUnavailable(TalariaError):
    """No sandbox can be started; the message says what to install or to wait for."""

    code = "sandbox_unavailable"


class SandboxLost(SandboxUnavailable):
    """The sandbox ended, and with it all that ran in it."""


class FetchFailed(TalariaError):
    """What a URL names could not be had: no connection, too slow, too large, an answer that is no answer."""

    code = "fetch_failed"


class FetchRefused(FetchFailed):
    """The URL may not be opened here; asking again will not help."""


class ConfigurationError(TalariaError):
    """talaria.yaml or a TALARIA_* variable is wrong; the message names the key."""

    code = "configuration"


class JournalError(TalariaError):
    """The journal did not take an append. Nothing of it was written."""


class SeqConflict(JournalError):
    """The journal's last seq is not the one expected."""


class StaleOwner(JournalError):
    """The epoch is older than the session's newest owner."""


class StoreClosed(JournalError):
    """The store is closed, or its disk no longer takes writes."""


class InternalError(TalariaError):
    """A fault of the harness; the message carries an id to look up in the log."""


class StopRun(Exception):
    """Raised by a tool to end the whole run: error/tool_failed, with `message` for the client."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
