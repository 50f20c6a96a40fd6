"""The configuration of notices."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from talaria.notify.notice import Event
from talaria.notify.standard import secret_key
from talaria.runtime.section import Identity, Section


class ApproverSettings(Section):
    """Who decides through the links that are sent."""

    user: Identity
    roles: list[str] = []


class NotifySettings(Section):
    """What is told to an address outside, and how. `secret` signs; the address may be a key itself.

    `agents`: only of runs of these. `approver`: who the link is for; absent: the run's own user.
    """

    on: Annotated[list[Event], Field(min_length=1)]
    url: str = Field(repr=False)
    secret: str = Field(default="", repr=False)
    format: Literal["json", "feishu", "dingtalk", "wecom", "slack"] = "json"
    agents: Annotated[list[str], Field(min_length=1)] | None = None
    approver: ApproverSettings | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> "NotifySettings":
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("its url must be an http or https address")
        if self.format == "json" and not self.secret:
            raise ValueError("format 'json' is signed: it needs a secret, such as whsec_ and 32 random bytes in base64")
        if self.format in ("wecom", "slack") and self.secret:
            raise ValueError(f"format '{self.format}' signs nothing: its url is the key; leave the secret out")
        try:
            secret_key(self.secret)
        except ValueError:
            raise ValueError("what stands behind whsec_ in its secret must be base64") from None
        return self
