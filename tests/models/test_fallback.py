"""Keys in turn, fallback models, earlier reasoning that is refused, and limits over all calls."""

import json
from typing import Any

import pytest

from talaria.core.errors import ModelError, ModelRejected, ModelUnavailable, Overloaded
from talaria.core.messages import AssistantMessage, Reasoning, Text, UserMessage
from talaria.models.call_limits import CallLimits
from talaria.models.gateway import Gateway
from talaria.models.routes import Route
from talaria.ports.model import Answer, Downgraded, ModelRequest, Prompt, Restart, ToolSpec
from talaria.ports.profile import Profile
from tests.models.fakes import Canned, CannedTransport, NotingClock, ask, collect
from tests.models.test_gateway import HELLO, failing

KEYS = ("key-one-111", "key-two-222")
DOWN = failing(500)


def hello() -> Canned:
    return Canned(HELLO.pieces)


class Scene:
    def __init__(self, *replies: Canned | Exception, routes: tuple[Route, ...]) -> None:
        self.transport = CannedTransport(replies)
        self.clock = NotingClock()
        self.gateway = Gateway(routes, self.transport, self.clock, jitter=lambda: 1.0)

    async def said(self, request: ModelRequest | None = None) -> list[Any]:
        items = await collect(self.gateway.stream(request or ask()))
        return [item for item in items if isinstance(item, Restart | Answer | Downgraded)]

    @property
    def keys(self) -> list[str]:
        return [dict(call.headers)["authorization"].removeprefix("Bearer ") for call in self.transport.calls]

    @property
    def models(self) -> list[str]:
        return [json.loads(call.body)["model"] for call in self.transport.calls]


def two_keys(**options: Any) -> Route:
    return Route("gpt", "http://x", api_keys=KEYS, **options)


async def test_keys_are_used_in_turn() -> None:
    scene = Scene(hello(), hello(), hello(), routes=(two_keys(),))
    for _ in range(3):
        await scene.said()
    assert scene.keys == ["key-one-111", "key-two-222", "key-one-111"]


@pytest.mark.parametrize("refusal", [failing(401), failing(429, headers=[("retry-after", "40")]), failing(402)])
async def test_another_key_is_tried_at_once_and_the_refused_one_is_left_alone(refusal: Canned) -> None:
    scene = Scene(refusal, hello(), hello(), routes=(two_keys(retries=0),))
    restart, answer = await scene.said()
    assert (restart.wait, answer.message.text) == (0.0, "Hello")
    await scene.said()
    assert scene.keys == ["key-one-111", "key-two-222", "key-two-222"]


async def test_every_key_is_tried_once() -> None:
    scene = Scene(failing(401), failing(401), routes=(two_keys(retries=0),))
    with pytest.raises(ModelRejected, match="apiKey"):
        await scene.said()
    assert scene.keys == list(KEYS)


FIRST = Route("gpt", "http://x", retries=1, fallback=("other-1", "third-1"))
OTHERS = (Route("other", "http://y", retries=0), Route("third", "http://z", retries=0))


async def test_another_model_is_asked_when_all_attempts_have_failed_and_what_was_said_is_void() -> None:
    scene = Scene(DOWN, DOWN, DOWN, hello(), routes=(FIRST, *OTHERS))
    again, other, third, answer = await scene.said()
    assert (again.notice, other.notice, third.notice) == ("retrying", "replaced", "replaced")
    assert "gpt-x does not answer; other-1" in other.reason
    assert scene.models == ["gpt-x", "gpt-x", "other-1", "third-1"]
    assert answer.message.model == "third-1"


async def test_a_provider_that_failed_is_not_asked_first_for_a_while() -> None:
    scene = Scene(DOWN, DOWN, hello(), hello(), hello(), routes=(FIRST, *OTHERS))
    await scene.said()
    await scene.said()
    assert scene.models == ["gpt-x", "gpt-x", "other-1", "other-1"]


@pytest.mark.parametrize("refusal", [failing(401), failing(402), failing(404)])
async def test_no_key_no_money_and_no_such_model_are_reasons_for_another_model(refusal: Canned) -> None:
    scene = Scene(refusal, hello(), routes=(FIRST, *OTHERS))
    assert (await scene.said())[-1].message.model == "other-1"


@pytest.mark.parametrize(
    "refusal", [failing(400), failing(400, "context_length_exceeded"), failing(400, "content_filter")]
)
async def test_a_request_that_is_wrong_is_wrong_for_every_model(refusal: Canned) -> None:
    scene = Scene(refusal, routes=(FIRST, *OTHERS))
    with pytest.raises(ModelError):
        await scene.said()
    assert scene.models == ["gpt-x"]


async def test_when_no_model_answers_the_last_error_is_told() -> None:
    scene = Scene(DOWN, DOWN, DOWN, DOWN, routes=(FIRST, *OTHERS))
    with pytest.raises(ModelUnavailable):
        await scene.said()


async def test_reasoning_that_is_not_taken_back_is_left_out_once() -> None:
    profile = Profile(reasoning_back="always")
    route = Route("gpt", "http://x", retries=0, profile_of=lambda _: profile)
    issuer = route.connection("gpt-x").issuer
    thought = AssistantMessage((Reasoning("Hm", issuer), Text("So")), "gpt-x")
    request = ModelRequest("gpt-x", Prompt("", (), [thought, UserMessage((Text("go"),))]))
    refusal = failing(400, "thinking block is bound to a different conversation")
    scene = Scene(refusal, hello(), routes=(route,))
    restart, answer = await scene.said(request)
    assert "without" in restart.reason
    assert [b"Hm" in call.body for call in scene.transport.calls] == [True, False]
    assert answer.reasoning_refused
    scene = Scene(refusal, refusal, routes=(route,))
    with pytest.raises(ModelRejected):
        await scene.said(request)


async def test_what_is_done_without_is_said_by_the_model_that_answers() -> None:
    plain = Profile(sampling="never")
    route = Route("other", "http://y", retries=0, profile_of=lambda _: plain)
    scene = Scene(DOWN, DOWN, hello(), routes=(FIRST, route, OTHERS[1]))
    request = ModelRequest("gpt-x", ask().prompt, temperature=0.3)
    said = await scene.said(request)
    assert [type(item).__name__ for item in said] == ["Restart", "Restart", "Downgraded", "Answer"]
    assert [json.loads(call.body).get("temperature") for call in scene.transport.calls] == [0.3, 0.3, None]


async def test_busy_is_an_answer() -> None:
    clock = NotingClock()
    limits = CallLimits(clock, per_minute=2, at_once=1)
    gateway = Gateway((Route("gpt", "http://x"),), CannedTransport([hello(), hello()]), clock, limits=limits)
    limits.enter("run_1")
    with pytest.raises(Overloaded, match="1 model calls of this run") as caught:
        await collect(gateway.stream(ModelRequest("gpt-x", ask().prompt, run_id="run_1")))
    limits.leave("run_1")
    await collect(gateway.stream(ask()))
    with pytest.raises(Overloaded, match="busy") as caught:
        await collect(gateway.stream(ask()))
    assert caught.value.retry_after == 60


async def test_a_fallback_that_cannot_do_what_the_request_is_for_is_passed_over() -> None:
    bare = Route("other", "http://y", retries=0, profile_of=lambda _: Profile(tools=False))
    scene = Scene(DOWN, DOWN, hello(), routes=(FIRST, bare, OTHERS[1]))
    prompt = Prompt("", (ToolSpec("look", "Look.", {"type": "object"}),), ask().prompt.messages)
    assert (await scene.said(ModelRequest("gpt-x", prompt)))[-1].message.model == "third-1"
