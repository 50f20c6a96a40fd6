"""The sections `approval` and `policy` of the configuration: whose consent calls take, and what rules say of them."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from talaria.runtime.section import Positive, Role, Section


class ApprovalSettings(Section):
    """Tools whose calls a person must agree to, how many seconds they have, and who that may be.

    `approvers`: roles; empty: the run's own user. `notRequester`: never the run's own user, whatever their roles.
    """

    required_tools: list[str] = ["Write", "Edit", "Bash"]
    timeout: Positive = 300
    approvers: list[Role] = []
    not_requester: bool = False

    @model_validator(mode="after")
    def _somebody_may(self) -> "ApprovalSettings":
        if self.not_requester and not self.approvers:
            raise ValueError("notRequester leaves nobody who may decide; name roles in approvers")
        return self


class RuleSettings(Section):
    """What of some tools is allowed, asked for or denied: one of the three names them.

    `roles`: for whoever has one of them; None: for everybody. `when`: a condition in CEL.
    """

    allow: str | None = None
    ask: str | None = None
    deny: str | None = None
    roles: Annotated[list[Role], Field(min_length=1)] | None = None
    when: Annotated[str, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _has_one_effect(self) -> "RuleSettings":
        said = [each for each in (self.allow, self.ask, self.deny) if each is not None]
        if len(said) != 1 or not said[0].strip(", "):
            raise ValueError("a rule has one of allow, ask and deny, which names tools")
        return self


class PolicySettings(Section):
    """Rules; deny goes before ask, ask before allow. Where none matches, the tool's own declaration holds.

    `afterUntrusted`: what happens to calls with outside effects once content of outside origin is in the session.
    """

    rules: list[RuleSettings] = []
    after_untrusted: Literal["ask", "allow", "deny"] = "ask"
