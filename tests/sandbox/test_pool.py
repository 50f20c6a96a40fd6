"""The pool: one sandbox for each session, started once, ended when it is not used, replaced when it is gone."""

import asyncio
from pathlib import Path

import pytest

from talaria.core.errors import NotFound, SandboxLost, SandboxUnavailable
from talaria.ports.sandbox import Command
from talaria.sandbox.pool import PATIENCE
from talaria.sandbox.starting import ANEW
from talaria.sandbox.starting import LOST as ALL_LOST
from tests.sandbox.bench import IDLE, KEEP, a_bench, key


async def test_parallel_calls_of_a_session_share_one_sandbox_and_sessions_share_none(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as bench:
        said = await asyncio.gather(*(bench.run(f"s{n % 5}") for n in range(50)))
        assert [said[n] == said[n % 5] for n in range(50)] == [True] * 50
        assert len(set(said)) == len(bench.launcher.launched) == 5


async def test_the_same_session_of_another_person_or_tenant_is_another(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as bench:
        keys = [key("s"), key("s", "other"), key("s", user="bob")]
        names = set[str]()
        for each in keys:
            async with bench.pool.use(each) as place:
                names.add(place.name)
        assert len(names) == 3


async def test_a_turn_without_memory_has_the_sandbox_of_its_session(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as bench, bench.pool.use(key("s")) as mine:
        of_run = type(key("s"))("acme", "ann", "-", "s", "run_1")
        async with bench.pool.use(of_run) as other:
            assert mine is other


async def test_the_first_to_wait_does_not_take_the_others_start_with_it_when_it_is_cancelled(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as bench:
        bench.launcher.gate.clear()
        first, second = (asyncio.create_task(bench.run("s")) for _ in range(2))
        await bench.settle()
        first.cancel()
        await bench.settle()
        bench.launcher.gate.set()
        await second
        assert len(bench.launcher.launched) == 1
        assert first.cancelled()


async def test_a_start_that_fails_is_told_to_all_and_tried_again_at_the_next_use(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as bench:
        bench.launcher.broken = "no room on the disk; make some"
        told = await asyncio.gather(*(bench.run("s") for _ in range(5)), return_exceptions=True)
        assert [str(each) for each in told] == ["no room on the disk; make some"] * 5
        assert all(isinstance(each, SandboxUnavailable) for each in told)
        assert bench.pool.running == 0
        bench.launcher.broken = ""
        await bench.run("s")


async def test_an_idle_one_ends_and_its_workspace_is_there_when_it_starts_again(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as bench:
        door = bench.door("s")
        await door.write("a.txt", b"mine")
        await bench.pass_time(IDLE - 1)
        assert bench.pool.is_running(key("s"))
        await bench.pass_time(1)
        assert not bench.launcher.running
        assert not bench.pool.is_running(key("s"))
        assert bench.pool.running == 0
        assert await door.read("a.txt") == b"mine"
        assert (await door.exec(Command(argv=["x"]))).note == ANEW
        assert (await door.exec(Command(argv=["x"]))).note == ""


async def test_the_workspace_goes_when_nobody_came_back_for_long_enough(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as bench:
        await bench.door("s").write("a.txt", b"mine")
        await bench.pass_time(IDLE)
        await bench.pass_time(KEEP - IDLE - 1)
        assert bench.launcher.workspaces
        await bench.pass_time(1)
        assert not bench.launcher.workspaces
        with pytest.raises(NotFound):
            await bench.door("s").read("a.txt")


async def test_one_in_use_is_never_ended_however_long_it_takes(tmp_path: Path) -> None:
    async with a_bench(tmp_path, size=1) as bench:
        running = asyncio.create_task(bench.run("s", "wait"))
        await bench.settle()
        await bench.pass_time(KEEP * 2)
        other = asyncio.create_task(bench.run("other"))
        await bench.settle()
        await bench.pass_time(PATIENCE - 1)
        assert not other.done()
        assert len(bench.launcher.running) == 1
        await bench.pass_time(1)
        with pytest.raises(SandboxUnavailable, match=r"all 1 sandboxes are in use.*raise sandbox\.max"):
            await other
        bench.boxes[0].let_go.set()
        assert await running == "wait"


async def test_a_pipe_holds_the_sandbox_until_it_is_closed(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as bench:
        pipe = await bench.door("s").dial(80)
        await bench.pass_time(IDLE * 2)
        assert bench.pool.is_running(key("s"))
        await pipe.close()
        await pipe.close()
        await bench.pass_time(IDLE)
        assert not bench.pool.is_running(key("s"))
        with pytest.raises(NotFound):
            await bench.door("s").dial(1)
        await bench.pass_time(IDLE)
        assert not bench.pool.is_running(key("s"))


async def test_at_the_ceiling_the_one_unused_for_longest_ends(tmp_path: Path) -> None:
    async with a_bench(tmp_path, size=2) as bench:
        names: dict[str, str] = {}
        for session in ("old", "new", "old"):  # "old" is used again: "new" is the older one now
            names[session] = await bench.run(session)
            bench.clock.move(1)
        names["third"] = await bench.run("third")
        assert {box.name for box in bench.launcher.running} == {names["old"], names["third"]}
        assert bench.launcher.most == 2
        assert await bench.run("new") == names["new"]


async def test_whoever_waits_gets_the_first_room_that_is_given_back(tmp_path: Path) -> None:
    async with a_bench(tmp_path, size=1) as bench:
        running = asyncio.create_task(bench.run("s", "wait"))
        await bench.settle()
        waiting = asyncio.create_task(bench.run("other"))
        await bench.settle()
        bench.boxes[0].let_go.set()
        await asyncio.gather(running, waiting)


async def test_a_tenant_with_many_waiting_does_not_keep_another_out(tmp_path: Path) -> None:
    async with a_bench(tmp_path, size=2) as bench:
        held = [asyncio.create_task(bench.run(f"s{n}", "wait", "big")) for n in range(2)]
        await bench.settle()
        order: list[str] = []

        async def ask(session: str, tenant: str) -> None:
            await bench.run(session, "x", tenant)
            order.append(session)

        more = [asyncio.create_task(ask(f"more{n}", "big")) for n in range(3)]
        await bench.settle()
        small = asyncio.create_task(ask("small", "small"))
        await bench.settle()
        bench.boxes[0].let_go.set()
        await small
        assert order == ["small"]
        bench.boxes[1].let_go.set()
        await asyncio.gather(*held, *more)
        assert bench.launcher.most == 2


async def test_a_dead_one_is_replaced_and_the_model_is_told_what_was_lost(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as bench:
        door = bench.door("s")
        await door.write("a.txt", b"mine")
        bench.launcher.kill(bench.launcher.launched[0])
        said = await door.exec(Command(argv=["box"]))
        assert (said.head.decode(), said.note) == (bench.launcher.launched[0], ANEW)
        assert await door.read("a.txt") == b"mine"


async def test_files_that_are_lost_too_are_said_to_be_whatever_is_called_first(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as bench:
        await bench.door("s").write("a.txt", b"mine")
        name = bench.launcher.launched[0]
        del bench.launcher.workspaces[name], bench.launcher.boxes[name]
        bench.boxes[0].box.runs = False
        with pytest.raises(NotFound, match=f"there is no file a.txt. {ALL_LOST}"):
            await bench.door("s").read("a.txt")


async def test_a_command_that_dies_with_its_sandbox_is_not_run_again(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as bench:
        running = asyncio.create_task(bench.run("s", "wait"))
        await bench.settle()
        bench.launcher.kill(bench.launcher.launched[0])
        bench.boxes[0].let_go.set()
        with pytest.raises(SandboxLost, match="not known what the command has done"):
            await running
        assert bench.boxes[0].box.served == 1
        assert await bench.run("s")
        assert bench.counts.counted["sandbox_commands lost"] == 1


async def test_a_dead_one_that_cannot_be_replaced_blocks_nobody(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as bench:
        await bench.run("s")
        bench.launcher.kill(bench.launcher.launched[0])
        bench.launcher.broken = "the engine does not answer; start it"
        async with asyncio.timeout(5):
            for call in (bench.run("s"), bench.door("s").read("x"), bench.door("s").dial(80), bench.run("other")):
                with pytest.raises(SandboxUnavailable, match="start it"):
                    await call
        bench.launcher.broken = ""
        assert await bench.run("s")


async def test_a_deleted_session_leaves_nothing_also_while_it_is_used(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as bench:
        running = asyncio.create_task(bench.run("s", "wait"))
        await bench.settle()
        gone = bench.pool.forget(key("s"))
        assert gone is not None
        fresh = await bench.run("s")  # at once: it is another one, with nothing of the old in it
        await gone
        bench.boxes[0].let_go.set()
        with pytest.raises(SandboxLost):
            await running
        assert [box.name for box in bench.launcher.running] == [fresh]
        assert list(bench.launcher.workspaces) == [fresh]
        assert bench.pool.forget(key("never")) is None


async def test_what_cannot_be_removed_now_is_removed_later(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as bench:
        await bench.run("s")
        bench.launcher.stuck = True
        gone = bench.pool.forget(key("s"))
        assert gone is not None
        await gone
        assert bench.launcher.workspaces
        bench.launcher.stuck = False
        await bench.pass_time(0)
        assert not bench.launcher.workspaces
        assert not bench.launcher.boxes


async def test_spares_are_given_to_new_sessions_and_make_room_first(tmp_path: Path) -> None:
    async with a_bench(tmp_path, size=3, spares=2) as bench:
        spare = bench.launcher.launched[0]
        assert len(bench.launcher.running) == bench.pool.running == 2
        assert await bench.run("s") == spare
        assert bench.counts.counted["sandbox_starts spare"] == 1
        await bench.pass_time(0)
        assert bench.pool.running == 3
        await asyncio.gather(bench.run("b"), bench.run("c"))
        assert bench.launcher.most == 3
        names = {await bench.run(session) for session in "sbc"}
        assert names == {box.name for box in bench.launcher.running}


async def test_a_dead_spare_is_given_to_nobody(tmp_path: Path) -> None:
    async with a_bench(tmp_path, spares=1) as bench:
        spare = bench.launcher.launched[0]
        bench.launcher.kill(spare)
        assert await bench.run("s") != spare
        assert bench.pool.running == 1


async def test_the_end_leaves_workspaces_but_no_sandbox(tmp_path: Path) -> None:
    async with a_bench(tmp_path, spares=2) as bench:
        await bench.door("s").write("a.txt", b"mine")
    assert not bench.launcher.boxes
    assert len(bench.launcher.workspaces) == 1


async def test_what_need_not_last_goes_with_the_pool(tmp_path: Path) -> None:
    async with a_bench(tmp_path, is_lasting=False) as bench:
        await bench.door("s").write("a.txt", b"mine")
    assert not bench.launcher.boxes
    assert not bench.launcher.workspaces


async def test_the_end_does_not_wait_for_starts(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as bench:
        bench.launcher.gate.clear()
        starting = asyncio.create_task(bench.run("s"))
        await bench.settle()
    with pytest.raises(SandboxUnavailable, match="stopping"):
        await starting
    assert not bench.launcher.boxes


async def test_secrets_are_in_the_environment_of_commands_and_a_command_may_say_otherwise(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as bench:
        door = bench.door("s", API_KEY="sk-1", OTHER="a")
        said = await door.exec(Command(argv=["env"], env={"OTHER": "b"}))
        assert said.head.decode() == "[('API_KEY', 'sk-1'), ('OTHER', 'b')]"


async def test_what_happens_is_counted(tmp_path: Path) -> None:
    async with a_bench(tmp_path) as bench:
        await bench.run("s")
        await bench.pass_time(IDLE)
        await bench.run("s")
        assert bench.counts.counted == {
            "sandbox_starts new": 1,
            "sandbox_starts again": 1,
            "sandbox_ends idle": 1,
            "sandbox_commands exited": 2,
        }
        assert len(bench.counts.observed) == 2
