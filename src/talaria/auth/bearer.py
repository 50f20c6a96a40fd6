"""The credential of a request: what stands in `Authorization: Bearer …`."""

from collections.abc import Mapping

from talaria.core.errors import Unauthenticated


def bearer(headers: Mapping[str, str], what: str) -> str:
    """Return the credential; `what` it is to be, for who sent none.

    Raises:
        Unauthenticated: there is none.
    """
    scheme, _, credential = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not credential.strip():
        raise Unauthenticated(f"this server needs a {what}: send it in the header 'Authorization: Bearer …'")
    return credential.strip()
