"""Which kind of sandbox there is, and what is said where there is none."""

from pathlib import Path
from typing import Any

import pytest

from talaria.core.errors import SandboxUnavailable
from talaria.runtime.sandbox_kinds import choose, may_exist
from talaria.runtime.sandbox_state import lasting_state
from talaria.runtime.settings import SandboxSettings, Settings

NOWHERE = "unix:///nowhere/docker.sock"


def settings(**fields: Any) -> SandboxSettings:
    return SandboxSettings.model_validate(fields)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, open_folder: Path) -> Path:
    """A machine without bubblewrap, whose Docker does not answer."""
    monkeypatch.setenv("PATH", str(open_folder))
    monkeypatch.setenv("DOCKER_HOST", NOWHERE)
    return open_folder


@pytest.mark.parametrize("kind", ["docker", "bubblewrap", "auto"])
async def test_where_none_works_it_is_refused_with_what_to_install(bare: Path, kind: str) -> None:
    with pytest.raises(SandboxUnavailable, match="code never runs without one") as refused:
        await choose(settings(kind=kind), bare / "state")
    said = refused.value.message.lower()
    assert ("docker:" in said) == (kind != "bubblewrap")
    assert ("bubblewrap:" in said) == (kind != "docker")
    assert "install" in said


async def test_on_a_mac_it_is_docker_only(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(SandboxUnavailable) as refused:
        await choose(settings(), bare / "state")
    assert "bubblewrap:" not in refused.value.message


@pytest.mark.service("bwrap")
async def test_where_docker_does_not_answer_it_is_bubblewrap_and_it_is_said_why(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", NOWHERE)
    chosen = await choose(settings(), open_folder)
    assert chosen.launcher.kind == "bubblewrap"
    assert chosen.why.startswith("docker: ")
    await chosen.launcher.close()
    chosen.records.close()


def test_none_is_none_and_what_is_named_may_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert not may_exist(settings(kind="none"))
    assert may_exist(settings(kind="docker"))
    monkeypatch.setenv("DOCKER_HOST", NOWHERE)
    assert may_exist(settings())


@pytest.mark.parametrize(
    ("config", "folder"),
    [
        ({"store": {"url": "sqlite:///talaria.db"}}, "talaria.db.sandboxes"),
        ({"store": {"url": "sqlite:////data/talaria.db"}}, "/data/talaria.db.sandboxes"),
        ({"store": {"url": "memory://"}, "sandbox": {"state": "here"}}, "here"),
        ({"store": {"url": "memory://"}}, None),
    ],
)
def test_what_must_be_found_again_is_beside_the_store(config: dict[str, Any], folder: str | None) -> None:
    assert lasting_state(Settings.model_validate(config)) == (folder and Path(folder).absolute())
