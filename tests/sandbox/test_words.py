"""What operators are told of sandboxes: by the doctor, at the start of a server, and by its readiness."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from talaria.cli.overview import overview
from talaria.runtime.catalog import load_catalog
from talaria.runtime.configure import read_settings
from talaria.runtime.sandboxes import Sandboxes, Site
from talaria.stores.memory.store import MemoryStore
from talaria.telemetry.metrics import Metrics
from talaria.testing.clock import FakeClock
from talaria.testing.model_server import ModelServer
from talaria.testing.scripted_model import ScriptedModel
from talaria.testing.steps import Step
from tests.server.serving import serving

NOWHERE = {"DOCKER_HOST": "unix:///nowhere/docker.sock"}


async def doctor(folder: Path, env: dict[str, str], **sandbox: Any) -> tuple[int, str]:
    """Run the command with a model that does well; return its code and the line about sandboxes."""
    async with ModelServer(lambda _: Step(text="one, two, three")) as server:
        model = {"prefix": "m1", "baseUrl": server.base_url, "capabilities": {"tools": False}}
        config = {"models": [model], "defaultModel": "m1", "store": {"url": "memory://"}, "sandbox": sandbox}
        path = folder / "talaria.yaml"
        await asyncio.to_thread(path.write_text, json.dumps(config))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "talaria", "doctor", "--config", str(path)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, **env},
        )
        said, _ = await asyncio.wait_for(process.communicate(), 40)
    assert process.returncode is not None
    lines = said.decode().splitlines()
    line = next((each for each in lines if each.startswith("sandbox:")), said.decode())
    return process.returncode, line


@pytest.mark.service("bwrap")
async def test_the_doctor_starts_a_sandbox_and_runs_a_command(tmp_path: Path, open_folder: Path) -> None:
    _, line = await doctor(tmp_path, {"TMPDIR": str(open_folder)}, kind="bubblewrap")
    assert line.startswith("sandbox: bubblewrap (as sandbox.kind says): started in ")
    left = await asyncio.to_thread(lambda: [path for path in open_folder.rglob("*") if path.is_file()])
    assert left == []


async def test_the_doctor_says_that_there_is_none_and_fails_where_one_was_named(tmp_path: Path) -> None:
    code, line = await doctor(tmp_path, NOWHERE, kind="docker")
    assert code == 1
    assert "sandbox: no sandbox can be had here, and code never runs without one. docker: " in line
    _, line = await doctor(tmp_path, NOWHERE, kind="none")
    assert line == "sandbox: off: sandbox.kind is none"


@pytest.mark.parametrize(
    ("sandbox", "said"),
    [
        ({"kind": "none"}, "off: sandbox.kind is none: there are no tools that run code or keep files"),
        ({"kind": "docker"}, "off: no sandbox can be had here, and code never runs without one. docker: "),
    ],
)
async def test_a_server_says_at_its_start_that_there_is_none(
    sandbox: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(*next(iter(NOWHERE.items())))
    settings = read_settings({"sandbox": sandbox, "store": {"url": "memory://"}}, {})
    sandboxes = Sandboxes(await asyncio.to_thread(Site.of, settings), FakeClock(), Metrics(), MemoryStore().journal)
    await sandboxes.look()
    lines = {line.name: line for line in overview(settings, load_catalog(settings, (), ()), sandboxes, "http://x")}
    await sandboxes.close()
    assert lines["sandbox"].text.startswith(said)


async def test_a_server_without_sandboxes_is_ready_and_says_what_it_does_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(*next(iter(NOWHERE.items())))
    async with serving(ScriptedModel(), sandbox={"kind": "docker"}) as served:
        before = await served.client.get("/readyz")
        await served.runtime.parts.sandboxes.look()
        after = await served.client.get("/readyz")
    assert before.json == {"status": "ready"}
    assert (after.status, after.json) == (200, {"status": "ready", "degraded": ["sandbox"]})
