"""What is handed out works where nothing else is: the wheel in an empty environment, the bundle without a network."""

import os
import shutil
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from talaria.testing.steps import Step
from tests.cli.process import chat, provider, talaria
from tests.repository import ROOT
from tests.services import require

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
_LEAKS = ("PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONHOME")
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in _LEAKS}


def call(*command: str | Path, said: str = "") -> str:
    """Run a command in the repository, with `said` as its input; return what it prints."""
    words = [str(each) for each in command]
    done = subprocess.run(words, cwd=ROOT, env=_ENVIRONMENT, capture_output=True, text=True, check=False, input=said)
    assert done.returncode == 0, done.stderr
    return done.stdout


def uv(*arguments: str | Path) -> str:
    own = ROOT / ".tools" / "uv" / "bin" / "uv"
    return call(own if own.exists() else "uv", *arguments)


def empty_environment(folder: Path) -> Path:
    """Make an environment with pip and nothing else; return its interpreter."""
    uv("venv", "--quiet", "--seed", folder)
    return folder / "bin" / "python"


def test_the_wheel_serves_and_answers_in_an_empty_environment(tmp_path: Path) -> None:
    uv("build", "--quiet", "--wheel", "--out-dir", tmp_path / "dist")
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    names = ZipFile(wheel).namelist()
    assert "talaria/py.typed" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"talaria", "talaria_agent"}
    python = empty_environment(tmp_path / "environment")
    call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    with (
        provider(tmp_path, [Step(text="Good morning!")]) as config,
        talaria(tmp_path, config, python=(str(python), "-I")) as process,
    ):
        with chat(process.url(), "Hello") as stream:
            assert "".join(event["data"] for _, event in stream.rest() if event["type"] == "token") == "Good morning!"
        piped = call(python, "-I", "-m", "talaria", "chat", "--url", process.url(), said="Hello again")
        assert piped == "Good morning!\n"


def test_the_bundle_installs_without_a_network(tmp_path: Path) -> None:
    offline = (require("unshare"), "--net") if os.geteuid() == 0 else (require("unshare"), "--map-root-user", "--net")
    bundle = tmp_path / "bundle"
    call(ROOT / "scripts" / "bundle.sh", bundle)
    assert "--find-links wheels talaria-agent" in (bundle / "README.md").read_text()
    python = empty_environment(tmp_path / "environment")
    install = ("-m", "pip", "install", "--quiet", "--no-index", "--find-links", bundle / "wheels", "talaria-agent")
    call(*offline, python, *install)
    hello = shutil.copy(ROOT / "examples" / "hello.py", tmp_path)
    assert call(*offline, python, "-I", hello) == "717,710 people live in Oslo.\n"
