"""The image that `talaria sandbox build` made: what data and pictures need is in it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from talaria.ports.sandbox import Command
from talaria.sandbox.agent_sandbox import AgentSandbox
from talaria.sandbox.docker.launcher import DockerLauncher
from talaria.sandbox.docker.load import image_recipe
from talaria.sandbox.image.recipe import recipe
from tests.sandbox.docker.conftest import IMAGE
from tests.sandbox.docker.test_launcher import launch_of, opened

pytestmark = pytest.mark.service("docker")

CHART = """
import warnings
warnings.simplefilter("error")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
frame = pd.DataFrame({"月份": ["一月", "二月"], "销量": np.array([3, -5])})
plt.plot(frame["月份"], frame["销量"])
plt.title("销量 −5 é")
plt.savefig("chart.png")
"""


@pytest.fixture
async def sandbox(launcher: DockerLauncher) -> AsyncIterator[AgentSandbox]:
    sandbox = await opened(await launcher.launch(launch_of("image")))
    yield sandbox
    await sandbox.close()


async def test_chinese_labels_are_drawn_without_any_setting(sandbox: AgentSandbox) -> None:
    exited = await sandbox.exec(Command(argv=["python3", "-c", CHART], timeout=50))

    assert (exited.exit_code, exited.head) == (0, b"")
    assert (await sandbox.read("chart.png")).startswith(b"\x89PNG")
    assert [found.path for found in await sandbox.list()] == ["chart.png"]


@pytest.mark.parametrize("program", ["node", "python", "rg", "unzip", "ps", "patch", "file"])
async def test_programs_that_agents_ask_for_are_there(sandbox: AgentSandbox, program: str) -> None:
    assert (await sandbox.exec(Command(argv=[program, "--help"], timeout=30))).exit_code in (0, 1, 10)


async def test_it_knows_the_hour_everywhere(sandbox: AgentSandbox) -> None:
    command = "TZ=Asia/Shanghai date --date=2026-01-01T00:00Z +%H"

    assert (await sandbox.exec(Command(argv=["sh", "-c", command]))).head == b"08\n"


async def test_it_is_labelled_with_a_recipe() -> None:
    made = await image_recipe(IMAGE)

    assert made is not None
    assert made == await asyncio.to_thread(recipe, made.rsplit("-", 1)[0]), (
        "the recipe has changed: run `make services` as root"
    )
