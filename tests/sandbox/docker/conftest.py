"""Launchers whose containers and volumes are gone after each test."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator

import pytest

from talaria.core.ids import new_id
from talaria.sandbox.docker.container import DEPLOYMENT
from talaria.sandbox.docker.engine import Engine
from talaria.sandbox.docker.launcher import DockerLauncher
from tests.services import find

IMAGE = "talaria-sandbox"
OURS = f"test-{os.getpid()}-"


@pytest.fixture
def deployment() -> str:
    return OURS + new_id("d")


@pytest.fixture
async def launcher(deployment: str) -> AsyncIterator[DockerLauncher]:
    launcher = DockerLauncher(deployment=deployment, image=IMAGE)
    yield launcher
    for found in await launcher.found():
        await launcher.remove(found.name, workspace=True)
    await launcher.close()


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left() -> Iterator[None]:
    """After all tests of this process the engine has no container and no volume of theirs."""
    yield
    if find("docker"):
        assert asyncio.run(_left()) == []


async def _left() -> list[str]:
    engine = await Engine.of_this_machine()
    try:
        there = [*await engine.volumes(DEPLOYMENT), *(each for each, _ in await engine.containers(DEPLOYMENT))]
    finally:
        await engine.close()
    return [each[DEPLOYMENT] for each in there if each[DEPLOYMENT].startswith(OURS)]
