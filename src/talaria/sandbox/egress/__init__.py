"""The way out of a sandbox: a proxy at the host, which lets through what is on a list of hosts."""

from talaria.sandbox.egress.allowed import Allowed
from talaria.sandbox.egress.proxy import EgressProxy

__all__ = ["Allowed", "EgressProxy"]
