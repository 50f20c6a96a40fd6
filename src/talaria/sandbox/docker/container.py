"""What a container of a sandbox may do and has: as little as it can work with."""

from collections.abc import Mapping, Sequence
from typing import Any

from talaria.ports.sandbox import WORKSPACE
from talaria.sandbox.docker.engine import Image
from talaria.sandbox.launcher import Launch

USER = "1000:1000"
DEPLOYMENT = "talaria.deployment"
NAME = "talaria.name"
_OWN = "talaria."
_PERIOD = 100_000
_SHARED_MEMORY = 64 * 1024 * 1024


def labels(deployment: str, launch: Launch) -> dict[str, str]:
    """Return the labels by which a container and its volume are found."""
    given = {f"{_OWN}{key}": value for key, value in launch.labels.items()}
    return {**given, DEPLOYMENT: deployment, NAME: launch.name}


def labels_given(found: Mapping[str, str]) -> dict[str, str]:
    """Return those labels that came with the launch."""
    own = (DEPLOYMENT, NAME)
    return {key.removeprefix(_OWN): value for key, value in found.items() if key.startswith(_OWN) and key not in own}


def user_of(image: Image) -> str:
    """Return who runs in a container of an image: its own user, unless that is root."""
    return USER if image.user.partition(":")[0] in ("", "0", "root") else image.user


def config(launch: Launch, *, user: str, volume: str, command: Sequence[str], runtime: str | None) -> dict[str, Any]:
    """Return what the engine is told to create, without the image and labels.

    /tmp may hold programs: compilers and package managers run what they put there, and so may the workspace anyway.
    Nothing the agent says is kept in the engine's log.
    """
    size = launch.size
    host: dict[str, Any] = {
        "ReadonlyRootfs": True,
        "Tmpfs": {"/tmp": f"rw,exec,nosuid,nodev,mode=1777,size={size.memory // 4}"},  # noqa: S108 - the container's own
        "Mounts": [{"Type": "volume", "Source": volume, "Target": WORKSPACE}],
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges"],
        "NetworkMode": "none",
        "IpcMode": "private",
        "ShmSize": min(_SHARED_MEMORY, size.memory // 4),
        "Memory": size.memory,
        "MemorySwap": size.memory,
        "CpuPeriod": _PERIOD,
        "CpuQuota": max(1_000, int(size.cpus * _PERIOD)),
        "PidsLimit": size.pids,
        "Ulimits": [{"Name": "core", "Soft": 0, "Hard": 0}],
        "LogConfig": {"Type": "none", "Config": {}},
        "Init": False,
        "RestartPolicy": {"Name": "no"},
    }
    if runtime:
        host["Runtime"] = runtime
    return {
        "Entrypoint": [],
        "Cmd": list(command),
        "User": user,
        "WorkingDir": WORKSPACE,
        "Hostname": "sandbox",
        "OpenStdin": True,
        "StdinOnce": False,
        "Tty": False,
        "NetworkDisabled": True,
        "Healthcheck": {"Test": ["NONE"]},
        "StopTimeout": 1,
        "HostConfig": host,
    }
