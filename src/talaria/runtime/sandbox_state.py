"""Where a deployment keeps what it must find again of its sandboxes: beside its store, as long-lived as that."""

import asyncio
import os
import shutil
import tempfile
import time
from pathlib import Path

import structlog

from talaria.core.errors import SandboxUnavailable
from talaria.runtime.sandbox_kinds import Kind, open_kind
from talaria.runtime.settings import SandboxSettings, Settings

YOUNG = 60.0
"""Seconds in which another process may be about to lock the folder that it has just made."""
KINDS: tuple[Kind, ...] = ("docker", "bubblewrap")

_log = structlog.get_logger("talaria.sandbox")


def lasting_state(settings: Settings) -> Path | None:
    """The state folder, or None where sandboxes need not last, as the sessions do not. Blocks."""
    if settings.sandbox.state is not None:
        return Path(settings.sandbox.state).absolute()
    scheme, _, rest = settings.store.url.partition("://")
    return Path(f"{rest.removeprefix('/')}.sandboxes").absolute() if scheme == "sqlite" else None


async def temporary_state(settings: SandboxSettings) -> Path:
    """Make a state folder for this process alone; what processes that were killed left in theirs is removed."""
    home = await asyncio.to_thread(_home)
    for folder in await asyncio.to_thread(_left, home):
        await _remove_left(settings, folder)
    return Path(await asyncio.to_thread(_make, home))


async def remove_state(folder: Path) -> None:
    """Remove a state folder, once nothing of it is in use."""
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _home() -> Path:
    home = Path(tempfile.gettempdir()) / f"talaria-{os.getuid()}"
    home.mkdir(mode=0o711, exist_ok=True)
    if home.is_symlink() or home.stat().st_uid != os.getuid():
        raise SandboxUnavailable(f"{home} is somebody else's; set sandbox.state to a folder of your own")
    return home


def _left(home: Path) -> list[Path]:
    return [folder for folder in home.iterdir() if time.time() - folder.stat().st_mtime > YOUNG]


def _make(home: Path) -> str:
    folder = tempfile.mkdtemp(dir=home)
    Path(folder).chmod(0o711)
    return folder


async def _remove_left(settings: SandboxSettings, folder: Path) -> None:
    """Unless a process that lives has it, or a kind of it cannot be opened: what is left of that stays."""
    stays = False
    for kind in KINDS:
        if not await asyncio.to_thread(_holds_any, folder / kind):
            continue
        try:
            launcher, records = await open_kind(kind, settings, folder)
        except SandboxUnavailable:
            stays = True
            continue
        try:
            for each in await launcher.found():
                await launcher.remove(each.name, workspace=True)
                _log.info("sandbox_reaped", sandbox=each.name)
        except SandboxUnavailable as error:
            _log.warning("sandbox_not_reaped", folder=str(folder), error=error.message)
            stays = True
        finally:
            await launcher.close()
            records.close()
    if not stays:
        await remove_state(folder)


def _holds_any(folder: Path) -> bool:
    """Whether a kind has anything there: one that was only tried has a folder, too."""
    return any(each.is_file() for each in folder.rglob("*.json"))
