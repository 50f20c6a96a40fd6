"""Problem documents (RFC 9457): the one file that knows which HTTP status a failure has."""

import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.responses import Response

from talaria.core.errors import InvalidRequest, TalariaError

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = 5.0
"""Seconds, where an error that passes with time does not say how many."""

STATUS = {
    "invalid_request": 422,
    "unauthenticated": 401,
    "forbidden": 403,
    "not_found": 404,
    "conflict": 409,
    "quota_exceeded": 429,
    "overloaded": 503,
    "model_unavailable": 502,
    "model_rejected": 502,
    "stream_truncated": 502,
    "tool_failed": 502,
    "output_invalid": 502,
    "context_overflow": 422,
    "capability_missing": 422,
    "sandbox_unavailable": 503,
    "fetch_failed": 502,
    "secrets_lost": 410,
    "internal": 500,
}
"""Status by code. An invalid request may have a narrower one: see `Refused`."""


class Refused(InvalidRequest):
    """An invalid request for which HTTP has a status of its own, and perhaps a header."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = dict(headers or {})


def problem(error: TalariaError) -> Response:
    """Return the answer that tells a client of an error. The members of `current` (of conflicts, quotas) are in it."""
    status = error.status if isinstance(error, Refused) else STATUS.get(error.code, 500)
    document: dict[str, Any] = dict(getattr(error, "current", {}))
    document |= {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status}
    document |= {"detail": error.message, "code": error.code if error.code in STATUS else "internal"}
    errors: tuple[dict[str, str], ...] = getattr(error, "errors", ())
    if errors:
        document["errors"] = errors
    return Response(msgspec.json.encode(document), status, _headers(error, status), MEDIA_TYPE)


def _headers(error: TalariaError, status: int) -> dict[str, str]:
    headers = {"Cache-Control": "no-store"}
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="talaria"'
    if status in (429, 503):
        headers["Retry-After"] = str(math.ceil(error.retry_after or RETRY_AFTER))
    return headers | (error.headers if isinstance(error, Refused) else {})
