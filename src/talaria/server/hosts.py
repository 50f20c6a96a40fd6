"""Which names this server answers to while there is no login: a page that rebinds its name to loopback gets nothing."""

from ipaddress import ip_address

from starlette.requests import HTTPConnection
from starlette.responses import Response

from talaria.core.errors import Forbidden
from talaria.runtime.settings import Settings
from talaria.server.problems import problem


class Hosts:
    """Checks the Host header. With a login the credential protects, and any name will do."""

    def __init__(self, settings: Settings) -> None:
        self._any = settings.auth.kind != "none"
        self._names = {"localhost", *(name.lower() for name in settings.server.allowed_hosts)}

    def refusal(self, request: HTTPConnection) -> Response | None:
        """The answer to a request that asks for a name which is not ours, or None."""
        host = request.headers.get("host", "")
        if self._any or not host or self._is_ours(_name(host)):
            return None
        return problem(
            Forbidden(f"this server has no login and does not answer to '{host[:100]}'; list it in server.allowedHosts")
        )

    def _is_ours(self, name: str) -> bool:
        try:
            return ip_address(name).is_loopback
        except ValueError:
            return name.lower().rstrip(".") in self._names


def _name(host: str) -> str:
    """The name in a Host header, without port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host
