"""Control groups of both versions, in folders laid out as the kernel's are."""

from pathlib import Path

import pytest

from talaria.sandbox.bubblewrap.control_groups import Hierarchy, make, names, remove, usable
from talaria.sandbox.launcher import Size

SIZE = Size(memory=1000, cpus=0.5, pids=10, disk=1)


def process(tmp_path: Path, own: str, *mounts: str) -> Path:
    folder = tmp_path / "process"
    folder.mkdir()
    (folder / "cgroup").write_text(own)
    (folder / "mountinfo").write_text("".join(f"{number} 1 0:1 {mount}\n" for number, mount in enumerate(mounts)))
    return folder


def unified(path: Path, offered: str = "cpuset cpu io memory pids") -> Path:
    path.mkdir(parents=True)
    (path / "cgroup.controllers").write_text(offered)
    return path


def written(group: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in group.iterdir()}


def test_version_2_hands_down_what_it_limits(tmp_path: Path) -> None:
    base = unified(tmp_path / "cg")
    places = usable(process(tmp_path, "0::/\n", f"/ {base} rw - cgroup2 none rw"))
    assert places == (Hierarchy(base, ("cpu", "memory", "pids"), 2),)
    assert names(places, "one") == [base / "talaria/one"]
    (base / "talaria/one").mkdir(parents=True, exist_ok=True)
    (base / "talaria/one/memory.swap.max").touch()
    make(places, "one", SIZE)
    assert (base / "talaria/cgroup.subtree_control").read_text() == "+cpu +memory +pids"
    assert written(base / "talaria/one") == {
        "cpu.max": "50000 100000",
        "memory.max": "1000",
        "memory.swap.max": "0",
        "pids.max": "10",
    }


def test_version_2_is_used_where_it_was_delegated_to_us(tmp_path: Path) -> None:
    base = tmp_path / "cg"
    unified(base / "service" / "main")
    for folder in (base, base / "service"):
        (folder / "cgroup.controllers").write_text("cpu memory pids" if folder != base else "")
    places = usable(process(tmp_path, "0::/service/main\n", f"/ {base} rw - cgroup2 none rw"))
    assert places == (Hierarchy(base / "service", ("cpu", "memory", "pids"), 2),)


def test_version_1_has_a_group_in_each_hierarchy(tmp_path: Path) -> None:
    bases = {kinds: tmp_path / kinds for kinds in ("memory", "pids", "cpu,cpuacct")}
    for base in bases.values():
        base.mkdir()
    mounts = [f"/ {base} rw shared:3 - cgroup cgroup rw,{kinds}" for kinds, base in bases.items()]
    places = usable(process(tmp_path, "4:memory:/x\n", *mounts))
    assert names(places, "one") == [base / "talaria/one" for base in bases.values()]
    make(places, "one", SIZE)
    assert written(bases["memory"] / "talaria/one") == {"memory.limit_in_bytes": "1000"}
    assert written(bases["cpu,cpuacct"] / "talaria/one") == {
        "cpu.cfs_period_us": "100000",
        "cpu.cfs_quota_us": "50000",
    }
    assert written(bases["pids"] / "talaria/one") == {"pids.max": "10"}


@pytest.mark.parametrize("offered", ["", "memory pids", "cpu pids"])
def test_groups_that_cannot_limit_all_are_not_used(tmp_path: Path, offered: str) -> None:
    base = unified(tmp_path / "cg", offered)
    assert usable(process(tmp_path, "0::/\n", f"/ {base} rw - cgroup2 none rw")) == ()


def test_the_parent_goes_with_the_last_group(tmp_path: Path) -> None:
    groups = [tmp_path / "talaria" / name for name in ("one", "two")]
    for group in groups:
        group.mkdir(parents=True)
    assert remove(groups[:1])
    assert groups[1].exists()
    assert remove(groups[1:])
    assert not groups[1].parent.exists()
    assert remove(groups)
