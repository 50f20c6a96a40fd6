"""Who asks: tenant, user and roles, taken from the credential (or from the request where auth is off)."""

import msgspec


class Principal(msgspec.Struct, frozen=True, gc=False):
    """Somebody on whose behalf something is done.

    `everyone` is set only where auth is off: such a principal sees all users of its tenant.
    """

    tenant: str = "default"
    user: str = "anonymous"
    roles: tuple[str, ...] = ()
    everyone: bool = False

    def may_see(self, tenant: str, user: str) -> bool:
        """Whether what belongs to (tenant, user) exists for this principal."""
        return self.tenant == tenant and (self.everyone or self.user == user)
