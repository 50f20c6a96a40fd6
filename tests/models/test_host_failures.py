"""Errors in the forms in which providers write them."""

import json
from typing import Any

import pytest

from talaria.core.errors import Fault, ModelError
from talaria.models import failures
from talaria.models.gateway import Gateway
from talaria.models.routes import Route
from talaria.ports.model import Answer, Restart
from tests.models.fakes import Canned, CannedTransport, NotingClock, ask, collect

QUOTA = "You exceeded your current quota, please check your plan and billing details."
HI = b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'


def google(code: int, status: str, message: str, *details: Any) -> Any:
    return [{"error": {"code": code, "message": message, "status": status, "details": details}}]


def delay(seconds: str) -> dict[str, str]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": seconds}


def daily() -> dict[str, Any]:
    violation = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}


@pytest.mark.parametrize(
    ("status", "body", "code", "fault", "wait"),
    [
        (429, google(429, "RESOURCE_EXHAUSTED", QUOTA, delay("34s")), "model_unavailable", Fault.RATE, 34.0),
        (429, google(429, "RESOURCE_EXHAUSTED", QUOTA, delay("3.5s")), "model_unavailable", Fault.RATE, 3.5),
        (429, google(429, "RESOURCE_EXHAUSTED", QUOTA, daily(), delay("34s")), "model_rejected", Fault.MONEY, None),
        (400, google(400, "INVALID_ARGUMENT", "API key not valid."), "model_rejected", Fault.KEY, None),
        (
            400,
            google(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens allowed."),
            "context_overflow",
            Fault.NONE,
            None,
        ),
        (
            400,
            google(400, "INVALID_ARGUMENT", "Function call is missing a thought_signature in functionCall parts."),
            "model_rejected",
            Fault.REASONING,
            None,
        ),
        (
            400,
            {"error": {"message": "The `reasoning_content` in the thinking mode must be passed back to the API."}},
            "model_rejected",
            Fault.REASONING,
            None,
        ),
        (402, {"error": {"message": "Insufficient Balance"}}, "model_rejected", Fault.MONEY, None),
        (
            429,
            {"error": {"code": "1113", "message": "余额不足或无可用资源包,请充值。"}},
            "model_rejected",
            Fault.MONEY,
            None,
        ),
        (429, {"error": {"type": "exceeded_current_quota_error"}}, "model_rejected", Fault.MONEY, None),
        (429, {"error": {"type": "engine_overloaded_error"}}, "model_unavailable", Fault.RATE, None),
        (400, {"error": {"code": "Arrearage", "message": "Access denied."}}, "model_rejected", Fault.MONEY, None),
        (400, {"error": {"code": "tool_use_failed", "message": "x"}}, "model_unavailable", Fault.NONE, None),
        (503, {"error": {"code": 503, "message": "Loading model"}}, "model_unavailable", Fault.NONE, None),
        (
            400,
            {"error": {"code": 400, "type": "exceed_context_size_error", "message": "x"}},
            "context_overflow",
            Fault.NONE,
            None,
        ),
        (
            400,
            {"error": {"message": "Your request exceeded model token limit: 262144 (requested: 300000)"}},
            "context_overflow",
            Fault.NONE,
            None,
        ),
        (
            400,
            {"error": {"code": "1261", "message": "Prompt exceeds max length"}},
            "context_overflow",
            Fault.NONE,
            None,
        ),
        (
            404,
            {"error": {"message": 'model "x" not found, try pulling it first'}},
            "model_rejected",
            Fault.MODEL,
            None,
        ),
        (
            422,
            {"object": "error", "message": {"detail": []}, "type": "extra_forbidden"},
            "model_rejected",
            Fault.NONE,
            None,
        ),
    ],
)
def test_an_error_is_told_apart(status: int, body: Any, code: str, fault: Fault, wait: float | None) -> None:
    error = failures.of_status(status, json.dumps(body, ensure_ascii=False).encode())
    assert (error.code, error.fault, error.retry_after) == (code, fault, wait)


async def test_a_call_that_groq_cannot_read_is_asked_for_again() -> None:
    bad = json.dumps({"error": {"message": "Failed to call a function.", "code": "tool_use_failed"}}).encode()
    clock = NotingClock()
    gateway = Gateway([Route("gpt", "http://x")], CannedTransport([Canned([bad], 400), Canned([HI])]), clock)
    items = await collect(gateway.stream(ask()))
    assert isinstance(items[0], Restart)
    assert isinstance(items[-1], Answer)


async def test_the_wait_that_google_asks_for_in_the_body_is_kept_and_a_header_wins() -> None:
    bad = json.dumps(google(429, "RESOURCE_EXHAUSTED", QUOTA, delay("7s"))).encode()
    for headers, least in (((), 7.0), ((("retry-after", "2"),), 2.0)):
        clock = NotingClock()
        replies = [Canned([bad], 429, headers), Canned([HI])]
        gateway = Gateway([Route("gpt", "http://x")], CannedTransport(replies), clock, jitter=lambda: 0.0)
        await collect(gateway.stream(ask()))
        assert clock.waits == [least]


def test_a_bad_call_within_a_stream_is_worth_another_try_too() -> None:
    error: ModelError = failures.in_stream({"code": "tool_use_failed", "type": "invalid_request_error"})
    assert error.retryable
