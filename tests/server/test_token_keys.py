"""The keys that tokens are checked with: fetched when needed, renewed, and what happens when they cannot be had."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from talaria.testing.scripted_model import ScriptedModel
from tests.server.door import door, refused, unsure
from tests.server.provider import NOW, identity_provider, public_jwk
from tests.server.serving import serving


async def test_a_new_key_is_fetched_when_it_is_first_seen_once_for_all_who_wait() -> None:
    async with door() as it:
        assert (await it.knock(it.idp.token())).status == 200
        it.clock.move(20)
        it.idp.keys = [public_jwk("rsa-1"), public_jwk("rsa-2")]
        answers = await asyncio.gather(*(it.knock(it.idp.token("rsa-2", jti=str(n))) for n in range(20)))
        assert {answer.status for answer in answers} == {200}
        assert it.idp.fetches == 2
        assert (await it.knock(it.idp.token())).status == 200


async def test_made_up_keys_do_not_make_us_a_burden_to_the_provider() -> None:
    async with door() as it:
        for number in range(50):
            refused(await it.knock(it.idp.token("rsa-evil", head={"kid": f"made-up-{number}"})))
        assert it.idp.fetches == 1
        it.clock.move(10)
        for number in range(50):
            refused(await it.knock(it.idp.token("rsa-evil", head={"kid": f"made-up-{number}"})))
        assert it.idp.fetches == 2


async def test_a_key_that_the_provider_took_back_is_not_good_for_known_tokens_either() -> None:
    async with door() as it:
        token = it.idp.token(exp=NOW + 10_000)
        assert (await it.knock(token)).status == 200
        it.idp.keys = [public_jwk("rsa-2")]
        it.clock.move(601)
        assert (await it.knock(it.idp.token("rsa-2", exp=NOW + 10_000))).status == 200
        refused(await it.knock(token))


async def fail(_: Any) -> Any:
    return web.Response(status=500)


async def test_without_the_provider_nobody_is_let_in_until_it_is_back() -> None:
    async with door() as it:
        it.idp.answer["/jwks"] = fail
        token = it.idp.token()
        for _ in range(5):
            unsure(await it.knock(token))
        assert it.idp.fetches == 1
        del it.idp.answer["/jwks"]
        it.clock.move(10)
        assert (await it.knock(token)).status == 200


async def test_known_keys_go_on_while_the_provider_is_gone_and_not_for_ever() -> None:
    async with door() as it:
        token, unknown = it.idp.token(exp=NOW + 200_000), it.idp.token("rsa-2", exp=NOW + 200_000)
        assert (await it.knock(token)).status == 200
        it.idp.answer["/jwks"] = fail
        it.clock.move(23 * 3600)
        assert (await it.knock(token)).status == 200
        assert (await it.knock(it.idp.token(exp=NOW + 200_000, jti="2"))).status == 200
        unsure(await it.knock(unknown))
        it.clock.move(3600)
        unsure(await it.knock(token))


async def test_a_slow_provider_holds_up_only_who_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("talaria.auth.provider.PATIENCE", 0.3)
    async with door() as it:
        token = it.idp.token(exp=NOW + 10_000)
        assert (await it.knock(token)).status == 200
        it.idp.gate.clear()
        it.clock.move(700)
        assert (await it.knock(token)).status == 200  # while the keys are being fetched
        unsure(await it.knock(it.idp.token("rsa-2", exp=NOW + 10_000)))
        assert (await it.knock(token)).status == 200


async def test_the_provider_is_not_followed_to_another_place() -> None:
    async with identity_provider() as evil:
        evil.keys = [public_jwk("rsa-evil")]

        async def elsewhere(request: web.Request) -> web.StreamResponse:
            return web.Response(status=302, headers={"Location": evil.url + request.path})

        for path in ("/jwks", "/.well-known/openid-configuration"):
            async with door() as it:
                it.idp.answer[path] = elsewhere
                evil.issuer = it.idp.issuer
                unsure(await it.knock(it.idp.token("rsa-evil")))
        assert evil.asked == []


def says(value: Any) -> Any:
    async def answer(_: Any) -> Any:
        return web.Response(text=value) if isinstance(value, str) else web.json_response(value)

    return answer


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("/.well-known/openid-configuration", {"issuer": "http://127.0.0.1:1", "jwks_uri": "http://127.0.0.1:1/jwks"}),
        ("/.well-known/openid-configuration", {"jwks_uri": "http://127.0.0.1:1/jwks"}),
        ("/.well-known/openid-configuration", "<html>"),
        ("/.well-known/openid-configuration", "[" * 100_000),
        ("/jwks", {"keys": "none"}),
        ("/jwks", []),
        ("/jwks", "x" * 600_000),
    ],
)
async def test_a_provider_that_answers_nonsense_lets_nobody_in(path: str, value: Any) -> None:
    async with door() as it:
        it.idp.answer[path] = says(value)
        unsure(await it.knock(it.idp.token()))


async def test_the_place_of_the_keys_may_be_configured() -> None:
    async with identity_provider() as idp:
        auth = idp.auth(jwksUrl=f"{idp.url}/jwks")
        async with serving(ScriptedModel(), auth=auth) as served:
            answer = await served.client.get("/ai-api/tools", headers={"authorization": f"Bearer {idp.token()}"})
        assert (answer.status, idp.asked) == (200, ["/jwks"])
