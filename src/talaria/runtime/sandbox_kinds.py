"""Which kind of sandbox a deployment has: Docker if an engine answers, else bubblewrap, never the bare host."""

import asyncio
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import structlog

from talaria.core.errors import SandboxUnavailable
from talaria.runtime.settings import SandboxSettings
from talaria.sandbox.launcher import Launcher
from talaria.sandbox.records import Records

_log = structlog.get_logger("talaria.sandbox")
Kind = Literal["docker", "bubblewrap"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A kind that works here, its records, and why it is this one."""

    launcher: Launcher
    records: Records
    why: str


def may_exist(settings: SandboxSettings) -> bool:
    """Whether sandboxes may be had here, as far as can be seen without starting anything. Blocks."""
    if settings.kind != "auto":
        return settings.kind != "none"
    docker = "DOCKER_HOST" in os.environ or shutil.which("docker") or Path("/var/run/docker.sock").exists()
    return bool(docker or shutil.which("bwrap"))


async def choose(settings: SandboxSettings, state: Path) -> Chosen:
    """Open the first kind that works; its records are locked for this process.

    Raises:
        SandboxUnavailable: none does; the message says what to install or allow.
    """
    refusals: list[str] = []
    for kind in await asyncio.to_thread(_kinds, settings, state):
        try:
            launcher, records = await open_kind(kind, settings, state)
        except SandboxUnavailable as error:
            refusals.append(f"{kind}: {error.message}")
            continue
        why = "; ".join(refusals) or ("as sandbox.kind says" if settings.kind != "auto" else f"{kind} works here")
        if refusals:
            _log.warning("sandbox_kind", kind=kind, instead_of=why)
        return Chosen(launcher, records, why)
    raise SandboxUnavailable(f"no sandbox can be had here, and code never runs without one. {' '.join(refusals)}")


def _kinds(settings: SandboxSettings, state: Path) -> Sequence[Kind]:
    """In order of preference. What has workspaces of this deployment comes first: a conversation keeps its files."""
    if settings.kind in ("docker", "bubblewrap"):
        return (settings.kind,)
    kinds: list[Kind] = ["docker"] if sys.platform == "darwin" else ["docker", "bubblewrap"]
    return sorted(kinds, key=lambda kind: not _has_workspaces(state / kind))


def _has_workspaces(folder: Path) -> bool:
    try:
        return any((folder / "sessions").iterdir())
    except OSError:
        return False


async def open_kind(kind: Kind, settings: SandboxSettings, state: Path) -> tuple[Launcher, Records]:
    """Open a kind: its records, and the launcher once it was checked.

    Raises:
        SandboxUnavailable: it does not work here, or another process has its records.
    """
    records = await Records.open(state / kind)
    launcher = None
    try:
        launcher = await asyncio.to_thread(_make, kind, settings, records)
        await launcher.check()
    except BaseException:
        if launcher is not None:
            await launcher.close()
        records.close()
        raise
    return launcher, records


def _make(kind: Kind, settings: SandboxSettings, records: Records) -> Launcher:
    """Blocks: what speaks to Docker takes a while to import."""
    if kind == "docker":
        from talaria.sandbox.docker.launcher import DockerLauncher  # noqa: PLC0415 - only the kind in use is loaded

        return DockerLauncher(deployment=records.deployment, image=settings.image, runtime=settings.runtime)
    from talaria.sandbox.agent import source  # noqa: PLC0415 - see above
    from talaria.sandbox.bubblewrap.launcher import Bubblewrap  # noqa: PLC0415 - see above
    from talaria.sandbox.image.recipe import default_root  # noqa: PLC0415 - see above

    root = Path(settings.root) if settings.root else default_root()
    return Bubblewrap(records.folder / "sandboxes", source(), root=root)
