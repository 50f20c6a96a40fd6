"""Whether an engine can hold sandboxes within all their limits."""

from collections.abc import Mapping
from typing import Any

from talaria.core.errors import SandboxUnavailable

_LIMITS = {"MemoryLimit": "memory", "CpuCfsQuota": "cpu", "PidsLimit": "pids"}


def check_host(info: Mapping[str, Any], runtime: str | None) -> None:
    """Return if what the engine says of itself (its /info) is good enough.

    Raises:
        SandboxUnavailable: it cannot limit what runs in it, has no seccomp filter, or not this runtime.
    """
    if info.get("OSType") != "linux":
        raise SandboxUnavailable(f"Docker runs {info.get('OSType')} containers here; sandboxes need Linux ones.")
    if missing := [name for key, name in _LIMITS.items() if not info.get(key)]:
        raise SandboxUnavailable(
            f"Docker cannot limit {', '.join(missing)} here: the cgroup controllers are off, or not delegated to an "
            "engine without root."
        )
    options: list[str] = info.get("SecurityOptions") or []
    if not any("name=seccomp" in option and "unconfined" not in option for option in options):
        raise SandboxUnavailable("Docker has no seccomp filter here; its default profile must be on.")
    runtimes: Mapping[str, Any] = info.get("Runtimes") or {}
    if runtime and runtime not in runtimes:
        raise SandboxUnavailable(f"Docker has no runtime {runtime}; it has {', '.join(sorted(runtimes))}.")
