"""Logins by token: what an identity provider signed for us lets in, and nothing else does."""

import hashlib
import hmac
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.server.door import door, refused
from tests.server.provider import NOW, Idp, identity_provider, part, private_key, public_jwk

# Who is let in


KINDS = [
    ("rsa-1", "RS256"),
    ("rsa-1", "RS512"),
    ("rsa-1", "PS256"),
    ("p256-1", "ES256"),
    ("p384-1", "ES384"),
    ("ed-1", "EdDSA"),
]


@pytest.mark.parametrize(("key", "alg"), KINDS)
async def test_a_good_token_says_who_it_is(key: str, alg: str) -> None:
    async with door() as it:
        it.idp.keys = [public_jwk(name) for name in ("rsa-1", "p256-1", "p384-1", "ed-1")]
        assert await it.who(it.idp.token(key, alg, groups=["cook", "user"])) == ("alice", 1)


@pytest.mark.parametrize(
    ("claims", "more", "who"),
    [
        ({"tenant": "org", "roles": "scope"}, {"scope": "user cook"}, ("alice", 1)),
        ({"tenant": "org", "roles": "realm.roles"}, {"realm": {"roles": ["cook"]}}, ("alice", 1)),
        ({"tenant": "org", "roles": "https://a.test/roles"}, {"https://a.test/roles": ["cook"]}, ("alice", 1)),
        ({"tenant": "org", "user": "email", "roles": "groups"}, {"email": "a@b.test"}, ("a@b.test", 0)),
        ({"tenant": "org", "defaultTenant": "x"}, {"org": None}, ("alice", 0)),
        ({"defaultTenant": "x"}, {"groups": ["cook"]}, ("alice", 0)),
    ],
)
async def test_claims_are_found_where_the_configuration_says(
    claims: dict[str, str], more: dict[str, Any], who: tuple[str, int]
) -> None:
    async with door(claims=claims) as it:
        assert await it.who(it.idp.token(**more)) == who


@pytest.mark.parametrize(
    "more",
    [
        {"aud": ["other", "talaria"]},
        {"exp": NOW - 29},
        {"nbf": NOW + 29},
        {"iat": NOW + 29},
        {"iat": None},
        {"exp": NOW + 0.5},
    ],
)
async def test_clocks_may_differ_a_little_and_a_token_may_be_for_others_too(more: dict[str, Any]) -> None:
    async with door() as it:
        assert (await it.knock(it.idp.token(**more))).status == 200


async def test_a_token_without_a_key_id_needs_one_key_that_fits() -> None:
    async with door() as it:
        token = it.idp.token(head={"kid": None}, exp=NOW + 10_000)
        it.idp.keys = [public_jwk("rsa-1"), public_jwk("p256-1")]
        assert (await it.knock(token)).status == 200
        it.idp.keys = [public_jwk("rsa-1"), public_jwk("rsa-2")]
        it.clock.move(20)
        refused(await it.knock(it.idp.token("rsa-3")))  # which makes the server look
        refused(await it.knock(token))


# Who is not


def unsigned(idp: Idp, alg: str = "none") -> str:
    return f"{part({'alg': alg, 'kid': 'rsa-1'})}.{part(idp.claims())}."


def by_public_key(idp: Idp, secret: bytes) -> str:
    """HS256, with what everybody knows as the secret."""
    text = f"{part({'alg': 'HS256', 'kid': 'rsa-1'})}.{part(idp.claims())}"
    return f"{text}.{part(hmac.digest(secret, text.encode(), hashlib.sha256))}"


def pem() -> bytes:
    return private_key("rsa-1").public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def tampered(idp: Idp) -> str:
    head, _, signature = idp.token().split(".")
    return f"{head}.{part(idp.claims(sub='root'))}.{signature}"


FORGED: dict[str, Callable[[Idp], str]] = {
    "no signature": unsigned,
    "no signature, other spelling": lambda idp: unsigned(idp, "None"),
    "the public key as a secret": lambda idp: by_public_key(idp, pem()),
    "the public key as a secret, in one line": lambda idp: by_public_key(idp, pem().strip()),
    "the name of the algorithm alone": lambda idp: unsigned(idp, "RS256"),
    "what it says was changed": tampered,
    "a key that nobody knows": lambda idp: idp.token("rsa-evil"),
    "another key under a known id": lambda idp: idp.token("rsa-evil", head={"kid": "rsa-1"}),
    "a key of another kind under a known id": lambda idp: idp.token("p256-evil", "ES256", {"kid": "rsa-1"}),
    "a key that it brings itself": lambda idp: idp.token(
        "rsa-evil", head={"jwk": public_jwk("rsa-evil"), "kid": "rsa-1"}
    ),
    "a key id that is none": lambda idp: f"{part({'alg': 'RS256', 'kid': ['rsa-1']})}.{part(idp.claims())}.AAAA",
    "a condition that is not understood": lambda idp: idp.token(head={"crit": ["exp2"], "exp2": 1}),
    "another type": lambda idp: idp.token(head={"typ": "logout+jwt"}),
    "expired": lambda idp: idp.token(exp=NOW - 31),
    "not yet": lambda idp: idp.token(nbf=NOW + 31),
    "made in the future": lambda idp: idp.token(iat=NOW + 31),
    "for ever": lambda idp: idp.token(exp=None),
    "an end that is no time": lambda idp: idp.ending("NaN"),
    "an infinite end": lambda idp: idp.ending("Infinity"),
    "an end in words": lambda idp: idp.ending('"9999999999"'),
    "an end that is true": lambda idp: idp.ending("true"),
    "of another issuer": lambda idp: idp.token(iss=f"{idp.issuer}/"),
    "of no issuer": lambda idp: idp.token(iss=None),
    "for another audience": lambda idp: idp.token(aud="talaria2"),
    "for no audience": lambda idp: idp.token(aud=None),
    "for an empty list": lambda idp: idp.token(aud=[]),
    "huge": lambda idp: idp.token(fill="x" * 20_000),
    "nested very deeply": lambda idp: f"{part(b'[' * 9000)}.e30.AAAA",
    "not a token": lambda idp: "abc",
    "five parts": lambda idp: f"{idp.token()}.a.b",
    "not ASCII": lambda idp: "k\xe9y.k\xe9y.k\xe9y",
    "nobody": lambda idp: idp.token(sub=None),
    "an empty user": lambda idp: idp.token(sub=""),
    "a long user": lambda idp: idp.token(sub="x" * 257),
    "a user that no store can keep": lambda idp: idp.token(sub="a\ud800"),
    "no tenant": lambda idp: idp.token(org=None),
    "an empty tenant": lambda idp: idp.token(org=""),
    "a tenant that is a number": lambda idp: idp.token(org=7),
    "a tenant that is a list": lambda idp: idp.token(org=["acme"]),
    "roles that are an object": lambda idp: idp.token(groups={"cook": True}),
    "roles that are numbers": lambda idp: idp.token(groups=[1]),
    "roles that are empty": lambda idp: idp.token(groups=[""]),
}


@pytest.mark.parametrize("kind", FORGED)
async def test_nothing_else_lets_anybody_in(kind: str) -> None:
    async with door() as it:
        assert (await it.knock(it.idp.ending(f"{NOW + 60}"))).status == 200
        refused(await it.knock(FORGED[kind](it.idp)))
        assert (await it.knock(it.idp.token())).status == 200


async def test_a_claim_that_is_not_there_is_named() -> None:
    async with door() as it:
        for claim, token in (("org", it.idp.token(org=None)), ("sub", it.idp.token(sub=None))):
            reply = await it.knock(token)
            assert reply.json["detail"] == f"this token lacks the claim '{claim}', which auth.claims names"


async def test_a_token_does_not_say_where_its_key_is() -> None:
    async with door() as it, identity_provider() as evil:
        evil.keys = [public_jwk("rsa-evil")]
        head = {"jku": f"{evil.url}/jwks", "x5u": f"{evil.url}/jwks", "kid": "rsa-evil"}
        refused(await it.knock(it.idp.token("rsa-evil", head=head)))
        assert evil.asked == []


async def test_only_the_configured_algorithms_are_taken() -> None:
    async with door(algorithms=["ES256"]) as it:
        it.idp.keys = [public_jwk("rsa-1"), public_jwk("p256-1")]
        refused(await it.knock(it.idp.token()))
        assert (await it.knock(it.idp.token("p256-1", "ES256"))).status == 200


@pytest.mark.parametrize("more", [{"alg": "RS512"}, {"use": "enc"}, {"kid": 7}, {"kty": "oct", "k": "AAAA"}])
async def test_a_key_is_used_only_for_what_it_is_for(more: dict[str, Any]) -> None:
    async with door() as it:
        it.idp.keys = [public_jwk("rsa-1", **more), {"kty": "new"}, public_jwk("p256-1")]
        refused(await it.knock(it.idp.token()))
        assert (await it.knock(it.idp.token("p256-1", "ES256"))).status == 200


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(min_codepoint=33, max_codepoint=255), min_size=1, max_size=60), st.integers(0, 3))
async def test_whatever_is_sent_is_refused_and_breaks_nothing(text: str, at: int) -> None:
    async with door() as it:
        parts = it.idp.token().split(".")
        parts[at % 3 : at % 3 + 1] = [text]
        refused(await it.knock(".".join(parts)))


async def test_no_token_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    async with door() as it:
        good, bad = it.idp.token(), it.idp.token("rsa-evil")
        await it.who(good)
        refused(await it.knock(bad))
    said = "".join(capsys.readouterr())
    assert "run_finished" in said
    assert not [each for token in (good, bad) for each in token.split(".")[1:] if each in said]


# A token that was good is remembered


async def test_a_token_is_over_when_it_says_so_also_when_it_is_known() -> None:
    async with door(leeway=0) as it:
        token = it.idp.token(exp=NOW + 60)
        assert (await it.knock(token)).status == 200
        it.clock.move(59)
        assert (await it.knock(token)).status == 200
        it.clock.move(1)
        refused(await it.knock(token))


async def test_no_more_tokens_are_remembered_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("talaria.auth.tokens.KEPT", 3)
    async with door() as it:
        tokens = [it.idp.token(jti=str(number)) for number in range(8)]
        for token in tokens * 2:
            assert (await it.knock(token)).status == 200
        assert len(it.served.app._login._good) == 3  # pyright: ignore[reportAttributeAccessIssue, reportPrivateUsage, reportUnknownMemberType, reportUnknownArgumentType]
