"""Sandboxes by bubblewrap: namespaces, a read-only system, a seccomp filter and limits, without a daemon."""

from talaria.sandbox.bubblewrap.launcher import Bubblewrap

__all__ = ["Bubblewrap"]
