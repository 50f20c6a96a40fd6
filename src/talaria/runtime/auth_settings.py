"""The section `auth` of the configuration: who is let in."""

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from talaria.auth.algorithms import ALGORITHMS, Algorithm
from talaria.auth.keys import HASHED, digest
from talaria.auth.safe_url import is_safe_url
from talaria.runtime.section import Identity, Section


class KeySettings(Section):
    """Whose key it is. `key` may be `sha256:` and the digest of the key in hexadecimal digits."""

    key: Annotated[str, Field(pattern=r"^[!-~]+$")] = Field(repr=False)
    tenant: Identity = "default"
    user: Identity
    roles: list[str] = []

    @field_validator("key")
    @classmethod
    def _only_its_digest(cls, key: str) -> str:
        return HASHED + digest(key).hex()


class ClaimSettings(Section):
    """Which claims of a token name somebody; dots lead into objects. `defaultTenant`: of tokens without the claim."""

    tenant: Identity | None = None
    default_tenant: Identity | None = None
    user: Identity = "sub"
    roles: Identity | None = None


class AuthSettings(Section):
    """Login: none (loopback only), keys (everybody has one), or jwt: tokens that an identity provider (OIDC) signs.

    Both are sent as `Authorization: Bearer …`. `leeway`: seconds that clocks may differ. `jwksUrl`: where the
    provider's keys are, if it has no discovery.
    """

    kind: Literal["none", "keys", "jwt"] = "none"
    keys: list[KeySettings] = []
    issuer: str = ""
    audience: str | list[str] = []
    claims: ClaimSettings = ClaimSettings()
    algorithms: Annotated[list[Algorithm], Field(min_length=1)] = list(ALGORITHMS)
    leeway: Annotated[float, Field(ge=0, le=300)] = 30
    jwks_url: str = ""

    @property
    def audiences(self) -> tuple[str, ...]:
        """Whom tokens may be for."""
        return (self.audience,) if isinstance(self.audience, str) else tuple(self.audience)

    @property
    def home(self) -> str:
        """The tenant to which belongs what is of none: logins that were refused."""
        return self.claims.default_tenant or "default"

    @model_validator(mode="after")
    def _has_a_provider(self) -> "AuthSettings":
        if (self.kind == "jwt") != bool(self.issuer):
            raise ValueError("kind 'jwt' and an issuer go together; there is one without the other")
        if self.kind != "jwt":
            return self
        if not self.audiences or not all(self.audiences):
            raise ValueError("audience is missing; say whom the tokens must be for")
        if self.claims.tenant is None and self.claims.default_tenant is None:
            raise ValueError("claims.tenant or claims.defaultTenant is missing; say of which tenant people are")
        for name, url in (("issuer", self.issuer), ("jwksUrl", self.jwks_url)):
            if url and not is_safe_url(url):
                raise ValueError(f"{name} must be a URL of https, or of http on this machine")
        return self

    @model_validator(mode="after")
    def _has_its_keys(self) -> "AuthSettings":
        if (self.kind == "keys") != bool(self.keys):
            raise ValueError("kind 'keys' and a list of keys go together; there is one without the other")
        digests = [digest(each.key) for each in self.keys]
        twice = [at for at, each in enumerate(digests) if each in digests[:at]]
        if twice:
            raise ValueError(f"keys[{twice[0]}] has a key that stands before it already; everybody needs their own")
        return self
