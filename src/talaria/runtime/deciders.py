"""Who may decide: the run's own user, or whoever has an approver's role in the same tenant.

A question to the user (`for_user`) is for the run's own user alone.
"""

from collections.abc import Iterable

from talaria.core.errors import Forbidden
from talaria.core.ids import SessionKey
from talaria.core.principal import Principal
from talaria.runtime.policy_settings import ApprovalSettings


class Deciders:
    """What the settings say about deciding; a question's `key` says whose run asks."""

    def __init__(self, settings: ApprovalSettings) -> None:
        self._approvers = settings.approvers
        self._not_requester = settings.not_requester

    def role(self, roles: Iterable[str]) -> str:
        """The role by which somebody is an approver; empty where they are none."""
        return next((each for each in self._approvers if each in roles), "")

    def may_see(self, principal: Principal, key: SessionKey, *, for_user: bool) -> bool:
        """Whether the question exists for this principal."""
        if principal.may_see(key.tenant, key.user):
            return True
        return not for_user and principal.tenant == key.tenant and bool(self.role(principal.roles))

    def may_decide(self, principal: Principal, key: SessionKey, *, for_user: bool) -> bool:
        """Whether this principal may decide about a question."""
        return self.may_see(principal, key, for_user=for_user) and (for_user or not self._lack(principal, key))

    def check(self, principal: Principal, key: SessionKey, *, for_user: bool) -> None:
        """Refuse whoever may not decide about a question that they see.

        Raises:
            Forbidden: they may not; it says what it takes.
        """
        if not for_user and (lack := self._lack(principal, key)):
            raise Forbidden(lack)

    def _lack(self, principal: Principal, key: SessionKey) -> str:
        if self._approvers and not self.role(principal.roles):
            return f"deciding about this question takes one of the roles {', '.join(self._approvers)}"
        if self._not_requester and principal.user == key.user:
            return "the one whose run asks may not decide about it; somebody else with an approver's role must"
        return ""
