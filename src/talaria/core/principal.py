"""Who asks: tenant, user and roles, taken from the credential (or from the request where auth is off)."""

import msgspec

from talaria.core.ids import scope_of


class Principal(msgspec.Struct, frozen=True, gc=False):
    """Somebody on whose behalf something is done.

    `everyone` is set only where auth is off: such a principal sees all users of its tenant.
    """

    tenant: str = "default"
    user: str = "anonymous"
    roles: tuple[str, ...] = ()
    everyone: bool = False

    def scope(self, reader: str = "") -> str:
        """What listings are limited to: the whole tenant for whoever has the role `reader`, or sees everyone."""
        sees_all = self.everyone or (bool(reader) and reader in self.roles)
        return scope_of(self.tenant, "" if sees_all else self.user)

    def may_see(self, tenant: str, user: str) -> bool:
        """Whether what belongs to (tenant, user) exists for this principal."""
        return self.tenant == tenant and (self.everyone or self.user == user)
