"""Where an engine is looked for."""

import hashlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from talaria.core.errors import SandboxUnavailable
from talaria.sandbox.docker.address import address_in
from talaria.sandbox.docker.engine import Engine

NAME = "colima"


@pytest.fixture
def home() -> Iterator[Path]:
    with TemporaryDirectory() as folder:  # a short path: those of sockets have 107 characters at most
        yield Path(folder)


def listen(path: Path) -> socket.socket:
    path.parent.mkdir(parents=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    return server


def write_context(home: Path, content: str) -> None:
    (home / ".docker").mkdir()
    (home / ".docker/config.json").write_text(json.dumps({"currentContext": NAME, "auths": {}}))
    place = home / ".docker/contexts/meta" / hashlib.sha256(NAME.encode()).hexdigest()
    place.mkdir(parents=True)
    (place / "meta.json").write_text(content)


CONTEXT = json.dumps({"Name": NAME, "Endpoints": {"docker": {"Host": "unix:///colima.sock", "SkipTLSVerify": False}}})


def test_the_environment_comes_first(home: Path) -> None:
    write_context(home, CONTEXT)

    assert address_in({"DOCKER_HOST": "tcp://engine:2375"}, home) == "tcp://engine:2375"


def test_then_the_context_of_the_docker_command(home: Path) -> None:
    write_context(home, CONTEXT)

    assert address_in({}, home) == "unix:///colima.sock"
    assert address_in({"DOCKER_CONTEXT": NAME}, home) == "unix:///colima.sock"


def test_a_context_that_cannot_be_read_is_named(home: Path) -> None:
    write_context(home, "{")

    with pytest.raises(SandboxUnavailable, match="context colima cannot be read"):
        address_in({}, home)


@pytest.mark.parametrize("place", ["docker.sock", "podman/podman.sock"])
def test_then_sockets_of_engines_without_root(home: Path, place: str) -> None:
    if Path("/var/run/docker.sock").is_socket():
        pytest.skip("this machine has an engine at the first place")
    with listen(home / "run" / place):
        assert address_in({"XDG_RUNTIME_DIR": str(home / "run")}, home) == f"unix://{home}/run/{place}"


async def test_an_address_of_an_unknown_kind_is_named() -> None:
    with pytest.raises(SandboxUnavailable, match="carrier://pigeon"):
        Engine("carrier://pigeon")


async def test_an_engine_that_does_not_answer_is_said_to_be_missing(home: Path) -> None:
    engine = Engine(f"unix://{home}/none.sock")
    try:
        with pytest.raises(SandboxUnavailable, match="Install Docker and start it"):
            await engine.info()
    finally:
        await engine.close()
