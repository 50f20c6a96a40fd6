"""Where the Docker engine of this machine listens."""

import asyncio
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from talaria.core.errors import SandboxUnavailable

INSTALL = "Install Docker and start it, or set DOCKER_HOST."


class _Endpoint(msgspec.Struct, rename="pascal"):
    host: str = ""


class _Context(msgspec.Struct, rename="pascal"):
    endpoints: dict[str, _Endpoint] = {}


class _Config(msgspec.Struct, rename="camel"):
    current_context: str = ""


async def engine_address() -> str:
    """Return where this machine's engine listens.

    Raises:
        SandboxUnavailable: there is none.
    """
    found = await asyncio.to_thread(lambda: address_in(os.environ, Path.home()))
    if found is None:
        raise SandboxUnavailable(f"There is no Docker engine on this machine. {INSTALL}")
    return found


def address_in(environ: Mapping[str, str], home: Path) -> str | None:
    """Return DOCKER_HOST, else the address of the docker command's context, else a socket at a usual place."""
    if host := environ.get("DOCKER_HOST"):
        return host
    return _of_context(environ, home / ".docker") or next(
        (f"unix://{path}" for path in _sockets(environ, home) if path.is_socket()), None
    )


def _sockets(environ: Mapping[str, str], home: Path) -> list[Path]:
    """Of the system, of Docker Desktop, Colima and OrbStack, of engines without root, and of Podman."""
    own = [Path(folder) for folder in (environ.get("XDG_RUNTIME_DIR"),) if folder]
    return [
        Path("/var/run/docker.sock"),
        home / ".docker/run/docker.sock",
        home / ".colima/default/docker.sock",
        home / ".orbstack/run/docker.sock",
        *(folder / "docker.sock" for folder in own),
        *(folder / "podman/podman.sock" for folder in own),
        Path("/run/podman/podman.sock"),
    ]


def _of_context(environ: Mapping[str, str], folder: Path) -> str | None:
    try:
        config = msgspec.json.decode((folder / "config.json").read_bytes(), type=_Config)
    except (OSError, msgspec.MsgspecError):
        config = _Config()
    name = environ.get("DOCKER_CONTEXT") or config.current_context
    if name in ("", "default"):
        return None
    place = folder / "contexts/meta" / hashlib.sha256(name.encode()).hexdigest() / "meta.json"
    try:
        context = msgspec.json.decode(place.read_bytes(), type=_Context)
        return context.endpoints["docker"].host or None
    except (OSError, msgspec.MsgspecError, KeyError):
        raise SandboxUnavailable(f"Docker's context {name} cannot be read: {place}.") from None
