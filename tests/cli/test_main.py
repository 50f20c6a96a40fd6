"""The command line: what is wrong with it or with the configuration is said in one line, with code 2."""

import json
import socket
import subprocess
import sys
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any

import pytest

from talaria.cli.main import main


def run(folder: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = (sys.executable, "-m", "talaria", *arguments)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=30, env=environment)


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert (ended.value.code, capsys.readouterr().out) == (0, f"talaria {version('talaria-agent')}\n")


def test_python_m_talaria_is_the_same_program(tmp_path: Path) -> None:
    assert run(tmp_path, "--version").stdout == f"talaria {version('talaria-agent')}\n"
    (script,) = entry_points(group="console_scripts", name="talaria")
    assert script.load() is main


@pytest.mark.parametrize(
    ("config", "word"),
    [
        ({"sever": {}}, "did you mean 'server'"),
        ({"server": {"prot": 1}}, "server.prot"),
        ({"server": {"port": 70000}}, "server.port"),
        ({"server": {"grace": "long"}}, "server.grace"),
        ({"server": {"host": "0.0.0.0"}}, "server.host"),
        ({"server": {"host": "192.0.2.1"}}, "server.host"),
        ({"server": {"host": "example.com"}}, "server.host"),
        ({"store": {"url": "nothing://"}}, "store.url"),
        ({"server": {"timezone": "Mars/Olympus"}}, "server.timezone"),
        ({"plugins": ["no_such_module"]}, "no_such_module"),
        ({"models": [{"prefix": "x"}]}, "models[0].baseUrl"),
        ({"agents": [{"name": "a", "tools": ["nothing"]}]}, "nothing"),
        ({"approval": {"requiredTools": ["nothing"]}}, "approval.requiredTools"),
        ("just text", "keys and values"),
    ],
    ids=str,
)
def test_a_bad_configuration_ends_with_code_2_and_names_the_key(tmp_path: Path, config: Any, word: str) -> None:
    (tmp_path / "talaria.yaml").write_text(json.dumps(config))
    result = run(tmp_path, "serve", "--port", "0") if "port" not in str(config) else run(tmp_path, "serve")
    assert result.returncode == 2
    assert word in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    result = run(tmp_path, "serve", "--config", "nowhere.yaml")
    assert (result.returncode, "nowhere.yaml" in result.stderr) == (2, True)


def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    result = run(tmp_path, "serve", TALARIA_SERVER__PROT="1")
    assert (result.returncode, "TALARIA_SERVER__PROT" in result.stderr) == (2, True)


def test_an_address_in_use_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = run(tmp_path, "serve", "--port", str(taken.getsockname()[1]))
    assert (result.returncode, "server.port" in result.stderr, "--port" in result.stderr) == (2, True, True)


@pytest.mark.parametrize(
    "arguments",
    [[], ["dance"], ["serve", "--port", "x"], ["serve", "--port", "70000"], ["serve", "--nothing"]],
    ids=str,
)
def test_a_wrong_command_line_is_code_2_with_a_hint(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: talaria" in capsys.readouterr().err
