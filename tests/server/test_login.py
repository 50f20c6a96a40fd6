"""Logins: who has no good key gets nothing; who has one is who the key says."""

import asyncio
import hashlib
import json

import pytest

from talaria import Runtime
from talaria.core.errors import ConfigurationError
from talaria.runtime.configure import read_settings
from talaria.runtime.settings import ServerSettings, Settings
from talaria.server.endpoints import ENDPOINTS
from talaria.server.listen import open_socket
from talaria.testing.scripted_model import Say, ScriptedModel
from tests.server.serving import serving

ALICE, BOB = "alice-0123456789", "bob-0123456789"
AUTH = {
    "kind": "keys",
    "keys": [
        {"key": ALICE, "tenant": "acme", "user": "alice", "roles": ["user"]},
        {"key": "sha256:" + hashlib.sha256(BOB.encode()).hexdigest().upper(), "user": "bob"},
    ],
}
TOKENS = {"kind": "jwt", "issuer": "https://id.test", "audience": "us", "claims": {"tenant": "org"}}
PAGE = "https://app.example.com"


def by(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


BAD = [
    {},
    {"authorization": ""},
    {"authorization": "Bearer"},
    {"authorization": "Bearer "},
    {"authorization": ALICE},
    {"authorization": f"Basic {ALICE}"},
    by("wrong"),
    by(ALICE + "x"),
    by(ALICE[:-1]),
    by(hashlib.sha256(ALICE.encode()).hexdigest()),
    by("sha256:" + hashlib.sha256(BOB.encode()).hexdigest()),
    by("k\xe9y"),
]


@pytest.mark.parametrize("headers", BAD, ids=range(len(BAD)))
async def test_without_a_good_key_every_endpoint_but_health_is_401(headers: dict[str, str]) -> None:
    async with serving(ScriptedModel(), auth=AUTH) as served:
        for endpoint in ENDPOINTS:
            answer = await served.client.request(endpoint.method, endpoint.path, headers=headers)
            if endpoint.path in ("/healthz", "/readyz"):
                assert answer.status == 200
                continue
            if "/decide/" in endpoint.path:  # what it takes is in its address
                assert answer.status == (404 if endpoint.method == "GET" else 422)
                continue
            assert (answer.status, answer.json["code"]) == (401, "unauthenticated")
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(("key", "user"), [(ALICE, "alice"), (BOB, "bob")])
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER "])
async def test_who_has_a_key_is_its_user(key: str, user: str, scheme: str) -> None:
    async with serving(ScriptedModel(Say("Hi.")), auth=AUTH) as served:
        headers = {"authorization": f"{scheme} {key}"}
        answer = await served.client.post("/ai-api/chat/stream", {"query": "Hello"}, headers=headers)
        assert answer.status == 200
        (session,) = (await served.client.get("/ai-api/sessions", headers=headers)).json["sessions"]
    assert session["userId"] == user


async def test_no_key_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    async with serving(ScriptedModel(Say("Hi.")), auth=AUTH) as served:
        for key in (ALICE, "wrong-0123456789"):
            await served.client.post("/ai-api/chat/stream", {"query": "Hello"}, headers=by(key))
    said = "".join(capsys.readouterr())
    assert "run_finished" in said
    assert ALICE not in said
    assert "wrong-0123456789" not in said


async def test_a_user_id_that_is_not_the_keys_is_403() -> None:
    async with serving(ScriptedModel(Say("Hi.")), auth=AUTH) as served:
        for user in ("bob", 7):
            body = {"query": "Hello", "userId": user}
            answer = await served.client.post("/ai-api/chat/stream", body, headers=by(ALICE))
            assert (answer.status, answer.json["code"]) == (403, "forbidden")
        for endpoint in ENDPOINTS:
            if "userId" in endpoint.query and endpoint.body is None:
                answer = await served.client.request(endpoint.method, f"{endpoint.path}?userId=bob", headers=by(ALICE))
                assert (answer.status, answer.json["code"]) == (403, "forbidden"), endpoint.path
        same = {"query": "Hello", "userId": "alice"}
        assert (await served.client.post("/ai-api/chat/stream", same, headers=by(ALICE))).status == 200


async def test_a_login_answers_under_any_name() -> None:
    async with serving(ScriptedModel(), auth=AUTH) as served:
        headers = by(ALICE) | {"host": "agents.example.com"}
        assert (await served.client.get("/ai-api/sessions", headers=headers)).status == 200


async def test_a_page_of_another_origin_may_ask_first_and_then_send_its_key() -> None:
    async with serving(ScriptedModel(), auth=AUTH, server={"cors": [PAGE]}) as served:
        ask = {
            "origin": PAGE,
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization, content-type",
        }
        asked = await served.client.request("OPTIONS", "/ai-api/chat/stream", headers=ask)
        assert asked.status == 204
        assert asked.headers["access-control-allow-origin"] == PAGE
        assert "Authorization" in asked.headers["access-control-allow-headers"]
        other = await served.client.request(
            "OPTIONS", "/ai-api/sessions", headers=ask | {"origin": "https://evil.test"}
        )
        assert other.status == 403
        assert "access-control-allow-origin" not in other.headers
        refused = await served.client.get("/ai-api/sessions", headers={"origin": PAGE})
        assert (refused.status, refused.headers["access-control-allow-origin"]) == (401, PAGE)
        let_in = await served.client.get("/ai-api/sessions", headers={"origin": PAGE} | by(ALICE))
        assert (let_in.status, let_in.headers["access-control-allow-origin"]) == (200, PAGE)


# The configuration


def test_no_key_shows_in_settings_or_parts() -> None:
    settings = read_settings({"auth": AUTH}, {})
    assert ALICE not in repr(settings)
    assert ALICE not in settings.model_dump_json()
    assert ALICE not in repr(vars(Runtime(settings, model=ScriptedModel())))


@pytest.mark.parametrize(
    ("auth", "says"),
    [
        ({"kind": "jwt"}, "one without the other"),
        ({"issuer": "https://id.test"}, "one without the other"),
        (TOKENS | {"audience": ""}, "audience is missing"),
        (TOKENS | {"audience": ["a", ""]}, "audience is missing"),
        (TOKENS | {"claims": {}}, r"claims\.tenant or claims\.defaultTenant"),
        (TOKENS | {"claims": {"tenant": ""}}, r"auth\.claims\.tenant"),
        (TOKENS | {"issuer": "http://id.test"}, "issuer must be a URL of https"),
        (TOKENS | {"issuer": "id.test"}, "issuer must be a URL of https"),
        (TOKENS | {"jwksUrl": "http://id.test/keys"}, "jwksUrl must be a URL of https"),
        (TOKENS | {"algorithms": ["HS256"]}, r"auth\.algorithms"),
        (TOKENS | {"algorithms": ["none"]}, r"auth\.algorithms"),
        (TOKENS | {"algorithms": list[str]()}, r"auth\.algorithms"),
        (TOKENS | {"leeway": 3600}, r"auth\.leeway"),
        ({"kind": "keys"}, "one without the other"),
        ({"keys": [{"key": ALICE, "user": "a"}]}, "one without the other"),
        ({"kind": "keys", "keys": [{"key": ALICE, "user": "a"}, {"key": ALICE, "user": "b"}]}, r"keys\[1\]"),
        ({"kind": "keys", "keys": [{"key": "", "user": "a"}]}, r"auth.keys\[0\].key"),
        ({"kind": "keys", "keys": [{"key": f"{ALICE} x", "user": "a"}]}, r"auth.keys\[0\].key"),
        ({"kind": "keys", "keys": [{"key": "sha256:12", "user": "a"}]}, "64 hexadecimal digits"),
        ({"kind": "keys", "keys": [{"key": ALICE}]}, r"auth.keys\[0\].user"),
        ({"kind": "keys", "keys": [{"key": ALICE, "usr": "a"}]}, r"auth.keys\[0\].usr: there is no such key.*'user'"),
        ({"kind": "keys", "keys": [ALICE]}, r"auth.keys\[0\]"),
    ],
)
def test_a_wrong_login_is_refused_and_no_key_is_told(auth: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says) as refused:
        read_settings({"auth": auth}, {})
    assert ALICE not in refused.value.message


PUBLIC = ["0.0.0.0", "::", "", "127.1", "10.1.2.3", "fe80::1", "::ffff:0.0.0.0", "agents.example.com", "localhost.evil"]


@pytest.mark.parametrize("host", PUBLIC)
def test_a_public_address_needs_a_login(host: str) -> None:
    with pytest.raises(ConfigurationError, match=r"auth\.kind to keys"):
        open_socket(Settings(server=ServerSettings(host=host, port=0)))


@pytest.mark.parametrize(
    "environ",
    [
        {"TALARIA_SERVER__HOST": "0.0.0.0"},
        {"TALARIA_SERVER": "{host: '::', port: 0}"},
        {"TALARIA_SERVER__HOST": "0.0.0.0", "TALARIA_AUTH": "{kind: none}"},
        {"TALARIA_SERVER__HOST": "0.0.0.0", "TALARIA_AUTH__KIND": "none", "TALARIA_AUTH__KEYS": "[]"},
    ],
)
def test_the_environment_does_not_lead_around_the_login(environ: dict[str, str]) -> None:
    auth = {"auth": AUTH} if "TALARIA_AUTH" in " ".join(environ) else {}
    with pytest.raises(ConfigurationError, match=r"auth\.kind to keys"):
        open_socket(read_settings(auth, environ))


def test_a_public_address_with_a_login_is_listened_on() -> None:
    settings = read_settings({"auth": AUTH, "server": {"host": "0.0.0.0", "port": 0}}, {})
    open_socket(settings).close()


# Problems, whoever asks


async def test_the_head_of_a_stream_opens_no_stream() -> None:
    gate = asyncio.Event()
    async with serving(ScriptedModel(Say("one", gate=gate)), auth=AUTH) as served:
        body = json.dumps({"query": "Hello"}).encode()
        headers = by(ALICE) | {"content-type": "application/json"}
        async with served.client.stream("POST", "/ai-api/chat/stream", body=body, headers=headers) as stream:
            await stream.until("run_started")
            run_id = stream.headers["x-run-id"]
            head = await served.client.request("HEAD", f"/ai-api/runs/{run_id}/events", headers=by(ALICE))
            assert len(served.app.streams) == 1
            gate.set()
            await stream.rest()
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-type"].startswith("text/event-stream")
    assert head.headers["x-run-id"] == run_id
    assert "content-length" not in head.headers


async def test_unknown_paths_methods_and_bodies_are_problems_with_a_login_too() -> None:
    async with serving(ScriptedModel(), auth=AUTH) as served:
        client, json_ = served.client, {"content-type": "application/json"}
        answers = {
            404: await client.get("/nowhere", headers=by(ALICE)),
            405: await client.request("PUT", "/ai-api/sessions", headers=by(ALICE)),
            415: await client.post("/ai-api/chat/cancel", body=b"{}", headers=by(ALICE)),
            422: await client.post("/ai-api/chat/cancel", body=b"{", headers=by(ALICE) | json_),
        }
        head = await client.request("HEAD", "/nowhere", headers=by(ALICE))
    assert head.status == 404
    for status, answer in answers.items():
        assert (answer.status, answer.json["status"]) == (status, status)
        assert answer.headers["content-type"] == "application/problem+json"
