"""Which engines are refused."""

from typing import Any

import pytest

from talaria.core.errors import SandboxUnavailable
from talaria.sandbox.docker.host import check_host

GOOD: dict[str, Any] = {
    "OSType": "linux",
    "MemoryLimit": True,
    "CpuCfsQuota": True,
    "PidsLimit": True,
    "SecurityOptions": ["name=apparmor", "name=seccomp,profile=default"],
    "Runtimes": {"runc": {"path": "runc"}},
}


def test_an_engine_with_all_limits_is_good_enough() -> None:
    check_host(GOOD, "runc")


@pytest.mark.parametrize(
    ("change", "runtime", "message"),
    [
        ({"OSType": "windows"}, None, "windows containers"),
        ({"MemoryLimit": False}, None, "cannot limit memory here"),
        ({"CpuCfsQuota": False, "PidsLimit": False}, None, "cannot limit cpu, pids here"),
        ({"SecurityOptions": None}, None, "no seccomp filter"),
        ({"SecurityOptions": ["name=seccomp,profile=unconfined"]}, None, "no seccomp filter"),
        ({}, "runsc", "no runtime runsc; it has runc"),
    ],
)
def test_one_that_holds_less_is_refused(change: dict[str, Any], runtime: str | None, message: str) -> None:
    with pytest.raises(SandboxUnavailable, match=message):
        check_host({**GOOD, **change}, runtime)
