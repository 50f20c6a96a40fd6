"""Gives a tree of files to the engine as an image, without any registry."""

import asyncio
import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from talaria.core.errors import SandboxUnavailable
from talaria.ports.sandbox import WORKSPACE
from talaria.sandbox.docker.container import USER
from talaria.sandbox.docker.engine import Engine
from talaria.sandbox.image.recipe import ENVIRONMENT, LABEL

_CHUNK = 1024 * 1024
_ROOM = "/var/tmp"  # noqa: S108 - a folder of a random name in it, and on a disk, where /tmp may be memory
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


async def image_recipe(image: str) -> str | None:
    """Return which recipe made the engine's image of this name; None if it has no such image, or not by a recipe.

    Raises:
        SandboxUnavailable: no engine answers.
    """
    engine = await Engine.of_this_machine()
    try:
        found = await engine.image(image)
    finally:
        await engine.close()
    return found.labels.get(LABEL) if found else None


async def load_image(root: Path, image: str, made: str) -> None:
    """Load the files under a folder as an image, labelled with the recipe that made them.

    It needs room for two copies meanwhile.

    Raises:
        SandboxUnavailable: the engine refuses, or does not answer.
    """
    engine = await Engine.of_this_machine()
    try:
        with tempfile.TemporaryDirectory(prefix="talaria-image-", dir=_ROOM) as folder:
            archive = await asyncio.to_thread(_archive, root, Path(folder), image, made)
            await engine.load(_chunks(archive))
    finally:
        await engine.close()


def _archive(root: Path, folder: Path, image: str, made: str) -> Path:
    """Write what `docker save` would: the layer, the configuration, and the manifest that names both."""
    layer = folder / "layer.tar"
    _tar("--numeric-owner", "--xattrs", "--one-file-system", "-C", str(root), "-cf", str(layer), ".")
    with layer.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    config = folder / "config.json"
    config.write_text(json.dumps(_configuration(digest, made)), encoding="utf-8")
    manifest = [{"Config": config.name, "RepoTags": [_tagged(image)], "Layers": [layer.name]}]
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    archive = folder / "image.tar"
    _tar("-C", str(folder), "--remove-files", "-cf", str(archive), config.name, "manifest.json", layer.name)
    return archive


def _configuration(digest: str, made: str) -> dict[str, Any]:
    machine = os.uname().machine
    return {
        "architecture": _MACHINES.get(machine, machine),
        "os": "linux",
        "created": datetime.now(UTC).isoformat(),
        "config": {
            "User": USER,
            "Env": [f"{name}={value}" for name, value in ENVIRONMENT.items()],
            "WorkingDir": WORKSPACE,
            "Labels": {LABEL: made},
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
    }


def _tagged(image: str) -> str:
    return image if ":" in image.rsplit("/", 1)[-1] else f"{image}:latest"


def _tar(*arguments: str) -> None:
    ended = subprocess.run(["tar", *arguments], check=False)  # noqa: S603, S607 - our own words; the system's tar
    if ended.returncode:
        raise SandboxUnavailable(f"The image cannot be written to {_ROOM}: tar ended with {ended.returncode}.")


async def _chunks(file: Path) -> AsyncIterator[bytes]:
    source = await asyncio.to_thread(file.open, "rb")
    with source:
        while chunk := await asyncio.to_thread(source.read, _CHUNK):
            yield chunk
