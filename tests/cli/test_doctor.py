"""`talaria doctor --run`: reads beside a running server; what it cannot do is said in one line."""

import json
import os
import subprocess
from pathlib import Path

from talaria.testing.steps import Step
from tests.cli.process import chat, provider, talaria
from tests.cli.test_main import run

ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("TALARIA_")}
PLUGIN = '''
from talaria import tool


@tool(side_effects=False)
def look(order: int) -> dict[str, object]:
    """Look an order up."""
    return {}


@tool
def hidden() -> str:
    """Stay out of sight of the model."""
    return ""
'''


def doctor(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return run(folder, "doctor", *arguments, **ENVIRONMENT)


def test_a_run_is_explained_beside_the_server_that_runs_it(tmp_path: Path) -> None:
    steps = [Step(calls=(("look", {"order": 7}),)), Step(text="Nothing there.", usage=(80, 6))]
    (tmp_path / "orders.py").write_text(PLUGIN)
    agents = [{"name": "clerk", "tools": ["look"]}]
    with provider(tmp_path, steps) as config:
        with talaria(tmp_path, config | {"plugins": ["orders"], "agents": agents}) as server:
            with chat(server.url()) as stream:
                run_id = stream.until("run_started")[1]["data"]
                stream.rest()
            said = doctor(tmp_path, "--run", run_id)
            assert server.is_running()
        assert doctor(tmp_path, "--run", run_id).stdout == said.stdout
    assert (said.returncode, said.stderr) == (0, "")
    lines = said.stdout.splitlines()
    assert lines[0].startswith(f"Run {run_id} of session ")
    assert lines[1].startswith("stop; 2 rounds, 1 call, ")
    assert lines[4].split()[3:6] == ["50", "20", "look"]
    assert "- 'look' gave an empty result in 1 of 1 call, first for {\"order\": 7}." in said.stdout
    assert "- 1 tool registered now, but not offered in this run: 'hidden'." in said.stdout


def test_plugins_that_cannot_be_loaded_do_not_keep_a_run_from_being_explained(tmp_path: Path) -> None:
    with provider(tmp_path, [Step(text="Hello.")]) as config, talaria(tmp_path, config) as server:
        with chat(server.url()) as stream:
            run_id = stream.until("run_started")[1]["data"]
            stream.rest()
        (tmp_path / "other.yaml").write_text(json.dumps({"plugins": ["gone"]}))
        said = doctor(tmp_path, "--run", run_id, "--config", "other.yaml", "--store", "sqlite:///talaria.db")
    assert said.returncode == 0
    assert said.stdout.startswith("The tools of this deployment could not be loaded")
    assert "Nothing odd was found." in said.stdout


def test_what_cannot_be_explained_is_said_in_one_line(tmp_path: Path) -> None:
    missing = doctor(tmp_path, "--run", "run_1")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "there is no " in missing.stderr
    unknown = doctor(tmp_path, "--run", "run_1", "--store", "memory://")
    assert (unknown.returncode, unknown.stderr) == (1, "talaria: no run 'run_1' in this store\n")
