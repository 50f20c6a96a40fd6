"""What a sandbox is shown as its system."""

from pathlib import Path

import pytest

from talaria.core.errors import SandboxUnavailable
from talaria.sandbox.bubblewrap.system import python, system


def root(tmp_path: Path, *pythons: str) -> Path:
    for folder in ("usr/bin", "usr/lib", "etc/ssh", "etc/fonts", "root", "home", "var/cache"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "bin").symlink_to("usr/bin")
    for name in pythons:
        (tmp_path / "usr/bin" / name).touch()
    return tmp_path


def test_of_a_root_only_programs_and_harmless_settings_are_shown(tmp_path: Path) -> None:
    base = root(tmp_path)
    assert system(base) == [
        *("--ro-bind", f"{base}/usr", "/usr", "--symlink", "usr/bin", "/bin", "--ro-bind", f"{base}/var", "/var"),
        *("--ro-bind", f"{base}/etc/fonts", "/etc/fonts"),
    ]


def test_the_newest_python_of_a_root_runs_the_agent(tmp_path: Path) -> None:
    assert python(root(tmp_path, "python3.9", "python3.13", "python3.12-config")) == ("/usr/bin/python3.13", [])


@pytest.mark.parametrize("pythons", [(), ("python3.8",)])
def test_a_root_without_a_python_that_is_new_enough_is_told(tmp_path: Path, pythons: tuple[str, ...]) -> None:
    with pytest.raises(SandboxUnavailable, match="talaria sandbox build"):
        python(root(tmp_path, *pythons))


def test_a_python_that_leads_out_of_what_is_shown_is_not_taken(tmp_path: Path) -> None:
    base = root(tmp_path)
    (base / "usr/bin/python3.13").symlink_to("/bin/true")
    with pytest.raises(SandboxUnavailable):
        python(base)


def test_a_folder_that_is_no_system_is_told(tmp_path: Path) -> None:
    with pytest.raises(SandboxUnavailable, match="holds no system"):
        system(tmp_path)
