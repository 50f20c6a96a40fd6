"""The gateway: routing, time limits, retries, errors and accounting, with replies in memory."""

import asyncio
import json
from collections.abc import Iterable
from typing import Any

import pytest

from talaria.core.errors import (
    ConfigurationError,
    ContextOverflow,
    InvalidRequest,
    ModelError,
    ModelRejected,
    ModelUnavailable,
    StreamTruncated,
)
from talaria.core.messages import AssistantMessage, Text
from talaria.core.usage import Usage
from talaria.models.gateway import Gateway
from talaria.models.routes import Route
from talaria.ports.model import Answer, Restart, TextDelta
from talaria.ports.profile import Price, Profile
from tests.models.fakes import Canned, CannedTransport, NotingClock, ask, collect

KEY = "secret-key-123"
ROUTE = Route("gpt", "https://api.example.com/v1", api_keys=(KEY,))


def chunk(content: str = "", finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    return b"data: %s\n\n" % json.dumps({"choices": [choice], **more}).encode()


HELLO = Canned(
    [chunk("Hel"), chunk("lo", "stop", usage={"prompt_tokens": 9, "completion_tokens": 2}), b"data: [DONE]\n\n"]
)


def failing(status: int, message: str = "no", headers: Iterable[tuple[str, str]] = (), code: str = "") -> Canned:
    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    return Canned([body], status, tuple(headers))


class Scene:
    """A gateway over canned replies. Jitter is 1, so that waits are exact."""

    def __init__(self, *replies: Canned | Exception, routes: Iterable[Route] = (ROUTE,)) -> None:
        self.clock = NotingClock()
        self.transport = CannedTransport(replies)
        self.gateway = Gateway(tuple(routes), self.transport, self.clock, jitter=lambda: 1.0)

    async def outcome(self, model: str = "gpt-x") -> list[Any]:
        return await collect(self.gateway.stream(ask(model)))

    async def failure(self) -> ModelError:
        with pytest.raises(ModelError) as caught:
            await self.outcome()
        assert KEY not in caught.value.operator + caught.value.message
        return caught.value


async def test_deltas_come_as_read_and_the_answer_last() -> None:
    scene = Scene(HELLO)
    answer = Answer(AssistantMessage((Text("Hello"),), "gpt-x"), "stop", Usage(9, 2))
    assert await scene.outcome() == [TextDelta("Hel"), TextDelta("lo"), answer]
    assert HELLO.closed


async def test_the_longest_prefix_decides_and_the_name_is_passed_unchanged() -> None:
    routes = [Route("", "http://any"), Route("gpt", "http://gpt"), Route("gpt-x", "http://gpt-x/")]
    scene = Scene(HELLO, HELLO, HELLO, routes=routes)
    for model in ("gpt-x-mini", "gpt-4", "other/model"):
        await scene.outcome(model)
    assert [call.url for call in scene.transport.calls] == [
        "http://gpt-x/chat/completions",
        "http://gpt/chat/completions",
        "http://any/chat/completions",
    ]
    assert [json.loads(call.body)["model"] for call in scene.transport.calls] == ["gpt-x-mini", "gpt-4", "other/model"]


async def test_a_model_without_a_route_is_an_error_that_names_the_prefixes() -> None:
    with pytest.raises(InvalidRequest, match=r"'claude-1'.*'gpt'"):
        await Scene().outcome("claude-1")


def test_a_route_shows_no_secret() -> None:
    assert KEY not in repr(ROUTE) + str(ROUTE) + f"{ROUTE}"


async def test_arguments_of_a_call_count_as_a_beginning() -> None:
    entry = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{"}}
    begun = b"data: %s\n\n" % json.dumps({"choices": [{"delta": {"tool_calls": [entry]}}]}).encode()
    route = Route("gpt", "http://x", first_token_timeout=60, idle_timeout=0.05, retries=0)
    error = await Scene(Canned([begun], hangs=True), routes=[route]).failure()
    assert error.message == "the model's answer stopped for more than 0.05 s"


def test_a_route_with_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"'gpt' has the dialect 'x'; there are .*openai"):
        Scene(routes=[Route("gpt", "http://x", "x")])


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
async def test_a_passing_failure_is_tried_again(status: int) -> None:
    scene = Scene(failing(status), failing(status), HELLO)
    items = await scene.outcome()
    assert [item.wait for item in items if isinstance(item, Restart)] == [0.5, 1.0] == scene.clock.waits
    assert isinstance(items[-1], Answer)
    assert all(reply.closed for reply in scene.transport.replies if isinstance(reply, Canned))


@pytest.mark.parametrize(
    ("reply", "kind", "message"),
    [
        (failing(401, "bad key " + KEY), ModelRejected, "refused the credential of route 'gpt'; check its apiKey"),
        (failing(403), ModelRejected, "refused the credential of route 'gpt'; check its apiKey"),
        (failing(404), ModelRejected, "route 'gpt' does not know the model 'gpt-x'"),
        (failing(400, "temperature"), ModelRejected, "refused the request"),
        (failing(400, "x", code="context_length_exceeded"), ContextOverflow, "longer than the model can take"),
        (failing(413, "prompt is too long"), ContextOverflow, "longer than the model can take"),
        (failing(429, "x", code="insufficient_quota"), ModelRejected, "no quota or credit left"),
        (failing(402), ModelRejected, "no quota or credit left"),
        (failing(307, headers=[("location", "http://evil")]), ModelRejected, "redirect.*baseUrl"),
        (Canned([b"<html>not json"], 400), ModelRejected, "refused the request"),
    ],
)
async def test_a_lasting_failure_is_raised_at_once(reply: Canned, kind: type[ModelError], message: str) -> None:
    scene = Scene(reply, HELLO)
    error = await scene.failure()
    assert type(error) is kind
    assert error.operator.startswith(f"HTTP {reply.status}")
    with pytest.raises(kind, match=message):
        raise error
    assert len(scene.transport.calls) == 1


async def test_attempts_are_limited_and_the_last_error_is_raised() -> None:
    scene = Scene(*[failing(503)] * 9)
    assert isinstance(await scene.failure(), ModelUnavailable)
    assert len(scene.transport.calls) == 3


async def test_the_wait_the_provider_asks_for_is_kept_and_a_long_one_given_up_on() -> None:
    scene = Scene(failing(429, headers=[("retry-after", "3")]), HELLO)
    assert isinstance((await scene.outcome())[0], Restart)
    assert scene.clock.waits == [pytest.approx(3.3)]
    scene = Scene(failing(429, headers=[("retry-after", "9999999999")]), HELLO)
    assert (await scene.failure()).retry_after == 9_999_999_999
    assert scene.clock.waits == []


async def test_a_truncated_stream_is_said_again_after_a_restart_that_quotes_nobody() -> None:
    scene = Scene(Canned([chunk("Hal")]), Canned([chunk("Ha"), b'data: {"error":"GPU 7"}\n\n']), HELLO)
    items = await scene.outcome()
    assert [type(item).__name__ for item in items] == [
        *("TextDelta", "Restart", "TextDelta", "Restart", "TextDelta", "TextDelta", "Answer")
    ]
    assert not any("GPU" in item.reason for item in items if isinstance(item, Restart))
    assert items[-1].message.text == "Hello"


async def test_no_connection_and_a_broken_one_are_tried_again() -> None:
    broken = Canned([chunk("Hal")], error=ModelUnavailable("reset"))
    scene = Scene(ModelUnavailable("no connection"), broken, HELLO)
    assert [item.text for item in await scene.outcome() if isinstance(item, TextDelta)] == ["Hal", "Hel", "lo"]
    scene = Scene(*[broken] * 3)
    assert isinstance(await scene.failure(), StreamTruncated)


async def test_an_answer_that_was_whole_before_the_connection_broke_is_taken() -> None:
    scene = Scene(Canned([chunk("Hello", "stop")], error=ModelUnavailable("reset")))
    assert (await scene.outcome())[-1].message.text == "Hello"


async def test_a_server_that_keeps_the_connection_open_after_the_end_is_not_waited_for() -> None:
    reply = Canned([chunk("Hello", "stop"), b"data: [DONE]\n\n"], hangs=True)
    assert (await Scene(reply).outcome())[-1].message.text == "Hello"
    assert reply.closed


async def test_silence_before_the_first_token_and_within_the_answer_has_limits() -> None:
    route = Route("gpt", "http://x", first_token_timeout=0.05, idle_timeout=0.05, retries=0)
    error = await Scene(Canned([b": queued\n\n"], hangs=True), routes=[route]).failure()
    assert error.message == "the model did not begin to answer within 0.05 s"
    error = await Scene(Canned([chunk("Hal")], hangs=True), routes=[route]).failure()
    assert error.message == "the model's answer stopped for more than 0.05 s"


async def test_a_slow_consumer_is_no_idle_provider() -> None:
    route = Route("gpt", "http://x", first_token_timeout=0.03, idle_timeout=0.03, retries=0)
    items: list[Any] = []
    async for batch in Scene(HELLO, routes=[route]).gateway.stream(ask()):
        items += batch
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 0.1)
    assert isinstance(items[-1], Answer)


async def test_closing_the_stream_closes_the_reply() -> None:
    reply = Canned([chunk("Hel")], hangs=True)
    stream = Scene(reply).gateway.stream(ask())
    assert await anext(stream) == [TextDelta("Hel")]
    await stream.aclose()
    assert reply.closed


async def test_cancelling_the_reader_closes_the_reply() -> None:
    reply = Canned([chunk("Hel")], hangs=True)
    started = asyncio.Event()

    async def read() -> None:
        async for _ in Scene(reply).gateway.stream(ask()):
            started.set()

    task = asyncio.create_task(read())
    async with asyncio.timeout(5):
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert reply.closed


async def test_usage_is_priced_and_cached_tokens_cost_their_own_price() -> None:
    usage = {
        "prompt_tokens": 1_000_000,
        "completion_tokens": 500_000,
        "prompt_tokens_details": {"cached_tokens": 400_000},
    }
    route = Route("gpt", "http://x", profile_of=lambda _: Profile(price=Price(2.0, 10.0, 0.5)))
    answer = (await Scene(Canned([chunk("x", "stop", usage=usage)]), routes=[route]).outcome())[-1]
    assert answer.usage == Usage(1_000_000, 500_000, 400_000, cost=6.4)


async def test_without_a_report_usage_is_estimated_and_says_so() -> None:
    scene = Scene(Canned([chunk("12345678", "stop")]))
    answer = (await scene.outcome())[-1]
    assert answer.usage == Usage(-(-len(scene.transport.calls[0].body) // 4), 2, estimated=True)


async def test_an_unknown_finish_reason_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert (await Scene(Canned([chunk("x", "eos_token")])).outcome())[-1].finish == "stop"
    assert "'eos_token' is not known" in caplog.text


@pytest.mark.parametrize("depth", [600, 100_000])
async def test_an_answer_that_is_nested_too_deeply_is_a_failed_attempt(depth: int) -> None:
    arguments = b'{"a":' * depth + b"1" + b"}" * depth
    call = b'{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":%b}}]}}]}'
    transport = CannedTransport([Canned([b"data: %b\n\n" % (call % arguments)])])
    with pytest.raises(ModelUnavailable, match="nested too deeply"):
        await collect(Gateway([Route("gpt", "http://x", retries=0)], transport, NotingClock()).stream(ask()))


async def test_an_answer_without_end_is_given_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("talaria.models.attempt.LONGEST_REPLY", 1_000)
    reply = Canned([HELLO.pieces[0]] * 1_000, hangs=True)
    transport = CannedTransport([reply])
    with pytest.raises(ModelRejected, match="does not end"):
        await collect(Gateway([Route("gpt", "http://x")], transport, NotingClock()).stream(ask()))
    assert reply.closed


async def test_keys_are_masked_in_notes_and_after_the_word_bearer(caplog: pytest.LogCaptureFixture) -> None:
    key, own = "sk-secret-123", "sk-secret-456"
    route = Route("gpt", "http://x", api_keys=(key,), headers=(("authorization", f"Bearer {own}"),), retries=0)
    odd = Canned([b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"%b"}]}\n\n' % key.encode()])
    refused = Canned([b'{"error":{"message":"no such key: %b"}}' % own.encode()], status=401)
    gateway = Gateway([route], CannedTransport([odd, refused]), NotingClock())
    await collect(gateway.stream(ask()))
    with pytest.raises(ModelRejected) as caught:
        await collect(gateway.stream(ask()))
    assert "no such key: [masked]" in caught.value.operator
    assert "[masked]" in caplog.text
    assert key not in caplog.text
