"""After a restart, or a kill: sandboxes are found again, and nobody's are removed."""

from pathlib import Path

import pytest

from talaria.core.errors import SandboxUnavailable
from talaria.ports.sandbox import Command
from talaria.sandbox.starting import ANEW
from tests.sandbox.bench import IDLE, KEEP, a_bench, key, killed


async def test_after_a_restart_a_session_has_its_workspace(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as first:
        await first.door("s").write("a.txt", b"mine")
    async with a_bench(tmp_path, first.launcher, first.clock) as second:
        assert await second.door("s").read("a.txt") == b"mine"
        assert (await second.door("s").exec(Command(argv=["x"]))).note == ANEW


async def test_after_a_kill_a_sandbox_that_still_runs_goes_on(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as first:
        name = await first.run("s")
        await killed(first)
    async with a_bench(tmp_path, first.launcher, first.clock) as second:
        assert second.pool.is_running(key("s"))
        assert second.pool.running == 1
        said = await second.door("s").exec(Command(argv=["box"]))
        assert (said.head.decode(), said.note) == (name, "")
        assert first.launcher.launched == [name]


async def test_one_that_ended_before_anybody_reached_for_it_is_started_anew(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as first:
        await first.door("s").write("a.txt", b"mine")
        await killed(first)
    async with a_bench(tmp_path, first.launcher, first.clock) as second:
        first.launcher.kill(first.launcher.launched[0])
        assert (await second.door("s").exec(Command(argv=["x"]))).note == ANEW
        assert await second.door("s").read("a.txt") == b"mine"


async def test_what_nobody_comes_back_for_ends_and_goes_in_its_time(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as first:
        await first.run("s")
        await killed(first)
    first.clock.move(IDLE - 1)
    async with a_bench(tmp_path, first.launcher, first.clock) as second:
        await second.pass_time(0)
        assert second.pool.is_running(key("s"))
        await second.pass_time(1)
        assert not first.launcher.boxes
        await killed(second)
    first.clock.move(KEEP - IDLE)
    async with a_bench(tmp_path, first.launcher, first.clock) as third:
        await third.pass_time(0)
        assert not first.launcher.workspaces


async def test_use_is_on_record_also_of_what_was_in_use_when_the_process_was_killed(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as first:
        await first.run("s")
        await first.pass_time(IDLE - 1)
        await first.run("s")
        await first.pass_time(1)
        await killed(first)
    async with a_bench(tmp_path, first.launcher, first.clock) as second:
        await second.pass_time(IDLE - 2)
        assert second.pool.is_running(key("s"))


async def test_nobodys_sandboxes_are_removed_spares_too(tmp_path: Path) -> None:
    async with a_bench(tmp_path, spares=2) as first:
        kept = await first.run("s")
        await first.run("over")
        first.launcher.workspaces["stray"] = {}
        await killed(first)
    async with a_bench(tmp_path, first.launcher, first.clock, dead=("over",)) as second:
        await second.settle()
        assert list(first.launcher.workspaces) == [kept]
        assert [box.name for box in first.launcher.running] == [kept]


async def test_what_runs_over_the_ceiling_after_a_restart_ends(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as first:
        names = [await first.run(f"s{n}") for n in range(3)]
        await killed(first)
    async with a_bench(tmp_path, first.launcher, first.clock, size=1) as second:
        await second.settle()
        assert second.pool.running == len(first.launcher.running) == 1
        assert [await second.run(f"s{n}") for n in range(3)] == names


async def test_a_second_process_is_kept_out(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as first:
        with pytest.raises(SandboxUnavailable, match="another process uses"):
            async with a_bench(tmp_path, first.launcher):
                pass
    async with a_bench(tmp_path, first.launcher):
        pass


async def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SandboxUnavailable, match=r"sandbox\.state: cannot write to .*file"):
        async with a_bench(tmp_path / "file"):
            pass


async def test_a_record_that_was_half_written_is_no_record(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as first:
        await first.run("s")
    (tmp_path / "sessions" / "sandbox_x.new").write_text("acme/a")
    async with a_bench(tmp_path, first.launcher, first.clock):
        assert [path.name for path in (tmp_path / "sessions").iterdir()] == first.launcher.launched
