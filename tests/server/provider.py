"""An identity provider (OIDC) on loopback: real keys, real tokens, and the ways in which it can fail."""

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import jwt
from aiohttp import web
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from talaria.testing.clock import START

AUDIENCE = "talaria"
NOW = START // 1000

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@cache
def private_key(name: str) -> Any:
    """A key of the kind that its name begins with; the same name, the same key."""
    if name.startswith("rsa"):
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)
    if name.startswith("ed"):
        return ed25519.Ed25519PrivateKey.generate()
    return ec.generate_private_key(ec.SECP384R1() if name.startswith("p384") else ec.SECP256R1())


def public_jwk(name: str, **more: Any) -> dict[str, Any]:
    """The public half, as the provider shows it."""
    key = private_key(name).public_key()
    kind: Any = RSAAlgorithm if name.startswith("rsa") else OKPAlgorithm if name.startswith("ed") else ECAlgorithm
    return kind.to_jwk(key, as_dict=True) | {"kid": name, "use": "sig"} | more


def part(value: Any) -> str:
    """A part of a token."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Idp:
    """What the provider has and does. `asked` counts requests by path; `answer` answers instead, where it is set."""

    def __init__(self) -> None:
        self.url = ""
        self.issuer = ""
        self.keys: list[dict[str, Any]] = [public_jwk("rsa-1")]
        self.asked: list[str] = []
        self.answer: dict[str, Handler] = {}
        self.gate = asyncio.Event()
        self.gate.set()

    def claims(self, **more: Any) -> dict[str, Any]:
        """Those of a good token; None leaves one out."""
        known = {"iss": self.issuer, "aud": AUDIENCE, "sub": "alice", "org": "acme", "exp": NOW + 600, "iat": NOW}
        return {name: value for name, value in (known | more).items() if value is not None}

    def token(self, key: str = "rsa-1", alg: str = "RS256", head: dict[str, Any] | None = None, **more: Any) -> str:
        """A signed token; `head` goes over its header."""
        headers = {"kid": key} | (head or {})
        named = {name: value for name, value in headers.items() if value is not None}
        return jwt.encode(self.claims(**more), private_key(key), alg, headers=named)

    def ending(self, end: str) -> str:
        """A well-signed token whose `exp` is this text of JSON."""
        body = json.dumps(self.claims(exp=0)).replace('"exp": 0', f'"exp": {end}')
        text = f"{part({'alg': 'RS256', 'kid': 'rsa-1'})}.{part(body.encode())}"
        return f"{text}.{part(private_key('rsa-1').sign(text.encode(), padding.PKCS1v15(), hashes.SHA256()))}"

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        await self.gate.wait()
        if request.path in self.answer:
            return await self.answer[request.path](request)
        if request.path == "/.well-known/openid-configuration":
            return web.json_response({"issuer": self.issuer, "jwks_uri": f"{self.url}/jwks"})
        return web.json_response({"keys": self.keys})

    @property
    def fetches(self) -> int:
        """How often the keys were fetched."""
        return self.asked.count("/jwks")

    def auth(self, **more: Any) -> dict[str, Any]:
        """The section `auth` for it."""
        claims = {"tenant": "org", "roles": "groups"}
        return {"kind": "jwt", "issuer": self.issuer, "audience": AUDIENCE, "claims": claims} | more


@asynccontextmanager
async def identity_provider() -> AsyncGenerator[Idp]:
    """Run a provider while the block runs."""
    idp = Idp()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", idp.serve)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        idp.url = idp.issuer = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield idp
    finally:
        idp.gate.set()
        await runner.cleanup()
