"""What a provider's error means: one classification for HTTP errors and for errors within a stream."""

import re
from collections.abc import Mapping
from typing import Any, cast

from talaria.core.errors import ContextOverflow, Fault, ModelError, ModelRejected, ModelUnavailable
from talaria.core.text import loads
from talaria.models.retry_after import retry_delay

LONGEST = 4_000
NO_CREDIT = "the model provider's account has no quota or credit left"
FILTERED = "the model provider's content filter refused the request; say it in other words"
_TRY_AGAIN = frozenset((408, 409, 425, 429, 529))
_OVERFLOW = re.compile(
    r"context_length_exceeded|context.{0,20}(?:length|window|size|limit)|prompt is too long|too many (?:input )?tokens"
    r"|reduce the length|input.{0,20}too long|request_too_large|input token count.{0,80}exceeds"
    r"|maximum prompt length|exceeded model token limit|prompt exceeds max length",
    re.IGNORECASE | re.DOTALL,
)
_NO_MONEY = re.compile(
    r"insufficient_quota|insufficient.{0,10}balance|billing|exceeded your current quota|credit balance|payment required"
    r"|arrearage|quota_exhausted|exceeded_current_quota|余额不足",
    re.IGNORECASE | re.DOTALL,
)
_FILTERED = re.compile(
    r"content_?filter|content_policy|content management policy|data_inspection_failed|responsibleaipolicy"
    r"|safety system|sensitive content|content exists risk",
    re.IGNORECASE,
)
_NO_REASONING = re.compile(
    r"signature.{0,40}thinking|thinking.{0,40}signature|thought_?signature|bound to a different"
    r"|invalid_encrypted_content|reasoning_content.{0,60}(?:must|missing)"
    r"|thinking.{0,40}blocks.{0,80}cannot be modified",
    re.IGNORECASE | re.DOTALL,
)
_BAD_CALL = re.compile(r"tool_use_failed|json_validate_failed", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model_not_found|model.{0,80}(?:does not exist|not exist|not found|is not supported)", re.IGNORECASE
)
_NO_KEY = re.compile(r"invalid_api_key|api key not valid|api_key_invalid|incorrect api key", re.IGNORECASE)
_REFUSED = re.compile(
    r"invalid_request|invalid_api_key|authentication|permission|not_found|content_polic", re.IGNORECASE
)
_BUSY = re.compile(r"rate.?limit|overload|too many requests|capacity|throttl|unavailable|timeout", re.IGNORECASE)


def of_status(status: int, body: bytes) -> ModelError:
    """Return the error that a reply with this status and body means."""
    words = _words(body)
    about = f"HTTP {status}: {words}"
    asked = retry_delay(body.decode("utf-8", "replace")) if status == 429 else None
    if status == 402 or (status in {400, 403, 429} and asked is None and _NO_MONEY.search(words)):
        return _no_money(about)
    if status in {400, 413, 422} and (known := _of_request(words, about)) is not None:
        return known
    match status:
        case 401 | 403:
            return _faulty(Fault.KEY, ModelRejected("the model provider refused the credential", operator=about))
        case 404:
            return _faulty(Fault.MODEL, ModelRejected("the model provider does not know the model", operator=about))
        case 429:
            busy = "the model provider limits how often it may be asked; try again later"
            limited = ModelUnavailable(busy, operator=about)
            limited.retry_after = asked
            return _faulty(Fault.RATE, limited)
        case _ if status >= 500 or status in _TRY_AGAIN:
            return ModelUnavailable(
                f"the model provider has a problem (HTTP {status}); try again later", operator=about
            )
        case _ if status < 400:
            redirect = f"the model provider answered with a redirect (HTTP {status}); check the route's baseUrl"
            return ModelRejected(redirect, operator=about)
        case _:
            return ModelRejected(f"the model provider refused the request (HTTP {status})", operator=about)


def _of_request(words: str, about: str) -> ModelError | None:
    """What was wrong with a request, where the provider's words leave no doubt."""
    if _OVERFLOW.search(words):
        return _overflow(about)
    if _FILTERED.search(words):
        return ModelRejected(FILTERED, operator=about)
    if _NO_REASONING.search(words):
        refused = "the model provider did not take the model's earlier reasoning back"
        return _faulty(Fault.REASONING, ModelRejected(refused, operator=about))
    if _BAD_CALL.search(words):  # chance, and worth another try: https://console.groq.com/docs/tool-use
        return ModelUnavailable("the model wrote a tool call or an answer that nobody can read", operator=about)
    if _NO_MODEL.search(words):
        return _faulty(Fault.MODEL, ModelRejected("the model provider does not know the model", operator=about))
    if _NO_KEY.search(words):
        return _faulty(Fault.KEY, ModelRejected("the model provider refused the credential", operator=about))
    return None


def of_route(error: ModelError, route: str, model: str) -> ModelError:
    """Return the error with what to do about it, where a route's configuration or a model's name is at fault."""
    if error.fault is Fault.KEY:
        message = f"the model provider refused the credential of route '{route}'; check its apiKey"
    elif error.fault is Fault.MODEL:
        message = (
            f"the model provider of route '{route}' does not know the model '{model[:200]}'; "
            "check the name and the route's baseUrl"
        )
    else:
        return error
    return _faulty(error.fault, ModelRejected(message, operator=error.operator))


def in_stream(error: object) -> ModelError:
    """Return the error that an error object within a stream means.

    The request was accepted, so it is worth a retry unless the provider says otherwise.
    """
    fields = cast("Mapping[str, Any]", error) if isinstance(error, Mapping) else {"message": str(error)}
    code = next((value for name in ("status", "status_code", "code") if (value := _status(fields.get(name)))), 0)
    kind = " ".join(str(fields.get(name) or "") for name in ("type", "code", "status"))
    words = f"{kind} {fields.get('message') or ''}".strip()[:LONGEST]
    about = f"error within the stream: {words}"
    if _NO_MONEY.search(words):
        return _no_money(about)
    if (known := _of_request(words, about)) is not None:
        return known
    if _BUSY.search(kind) or code >= 500 or code in _TRY_AGAIN:
        return ModelUnavailable("the model provider broke off its answer: it is too busy", operator=about)
    if 400 <= code < 500 or _REFUSED.search(kind):
        return ModelRejected("the model provider refused the request in the middle of its answer", operator=about)
    return ModelUnavailable("the model provider broke off its answer with an error", operator=about)


def _faulty(fault: Fault, error: ModelError) -> ModelError:
    error.fault = fault
    return error


def _no_money(about: str) -> ModelError:
    return _faulty(Fault.MONEY, ModelRejected(NO_CREDIT, operator=about))


def _overflow(about: str) -> ModelError:
    return ContextOverflow("the conversation is longer than the model can take; start a new one", operator=about)


def _status(value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:4])
    return value if isinstance(value, int) and 100 <= value < 600 else 0


def _words(body: bytes) -> str:
    try:
        value = loads(body)
    except ValueError:
        return body[:LONGEST].decode("utf-8", "replace")
    many = cast("list[Any]", value) if isinstance(value, list) else [value]
    first = many[0] if many else None
    error = cast("dict[str, Any]", first).get("error", first) if isinstance(first, dict) else first
    if isinstance(error, dict):
        fields = cast("dict[str, Any]", error)
        found = [str(fields[name]) for name in ("type", "code", "message") if fields.get(name)]
        return " ".join(found)[:LONGEST] or str(fields)[:LONGEST]
    return str(error)[:LONGEST]
