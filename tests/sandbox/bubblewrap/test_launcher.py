"""The launcher of bubblewrap sandboxes: their life, from start to the last file."""

import asyncio
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from talaria.core.errors import SandboxLost, SandboxUnavailable
from talaria.sandbox.bubblewrap import Bubblewrap
from talaria.sandbox.launcher import Found
from tests.sandbox.bubblewrap.conftest import UIDS, left_over, processes
from tests.sandbox.bubblewrap.plain_agent import SOURCE, run, sandbox, shell

pytestmark = pytest.mark.service("bwrap")


async def test_a_sandbox_can_be_launched_here(launcher: Bubblewrap, state: Path) -> None:
    await launcher.check()
    assert left_over(state) == []


async def test_a_workspace_outlives_its_sandbox(launcher: Bubblewrap) -> None:
    link = await launcher.launch(sandbox(session="s1"))
    assert (await shell(link, "pwd; echo kept >file; echo gone >/tmp/file")).output == "/workspace\n"
    await link.close()
    await launcher.remove("one", workspace=False)
    assert await launcher.found() == [Found("one", {"session": "s1"}, running=False)]
    link = await launcher.launch(sandbox(session="s1"))
    assert (await shell(link, "cat file; ls /tmp")).output == "kept\n"
    assert await launcher.found() == [Found("one", {"session": "s1"}, running=True)]
    await link.close()


async def test_a_new_stream_ends_the_older_one_and_the_sandbox_goes_on(launcher: Bubblewrap) -> None:
    first = await launcher.launch(sandbox())
    await shell(first, "echo here >/tmp/file")
    await first.close()
    second = await launcher.attach("one")
    assert (await shell(second, "cat /tmp/file")).output == "here\n"
    await second.close()


async def test_launching_again_replaces_what_runs(launcher: Bubblewrap) -> None:
    first = await launcher.launch(sandbox())
    await shell(first, "touch /tmp/file")
    second = await launcher.launch(sandbox())
    assert await first.read() == b""
    assert (await shell(second, "ls /tmp")).output == ""
    await first.close()
    await second.close()


async def test_whatever_runs_inside_ends_with_it_and_what_is_closed_or_deep_is_deleted(
    launcher: Bubblewrap, state: Path
) -> None:
    link = await launcher.launch(sandbox())
    script = "trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 300' & mkdir -p closed/in; chmod 0 closed/in closed"
    await shell(link, f"({script}) >/dev/null 2>&1")
    deep = "import os\nfor _ in range(3000): os.mkdir('d' * 20); os.chdir('d' * 20)"
    assert (await run(link, "python3", "-c", deep)).code == 0
    await link.close()
    await launcher.remove("one", workspace=True)
    assert left_over(state) == []
    assert await launcher.found() == []


async def test_removing_what_is_not_there_is_no_error(launcher: Bubblewrap) -> None:
    await launcher.remove("never", workspace=True)
    assert await launcher.found() == []


async def test_a_sandbox_that_ended_is_lost(launcher: Bubblewrap) -> None:
    link = await launcher.launch(sandbox())
    await shell(link, "true")
    await launcher.remove("one", workspace=False)
    assert await link.read() == b""
    await link.close()
    with pytest.raises(SandboxLost, match="has ended"):
        await launcher.attach("one")


async def test_a_sandbox_is_found_again_after_its_talaria_was_killed(launcher: Bubblewrap, state: Path) -> None:
    launch = (
        "import asyncio, pathlib, sys\n"
        "from tests.sandbox.bubblewrap.plain_agent import SOURCE, sandbox, shell\n"
        "from talaria.sandbox.bubblewrap import Bubblewrap\n"
        "async def main():\n"
        "    uids = range(*map(int, sys.argv[2:]))\n"
        "    launcher = Bubblewrap(pathlib.Path(sys.argv[1]), agent=lambda: SOURCE, uids=uids)\n"
        "    link = await launcher.launch(sandbox(session='s1'))\n"
        "    await shell(link, 'touch file; sleep 300 >/dev/null 2>&1 & echo $! >/tmp/pid')\n"
        "    print('ready', flush=True)\n"
        "    await asyncio.sleep(300)\n"
        "asyncio.run(main())\n"
    )
    argv = [sys.executable, "-c", launch, str(state), str(UIDS.start), str(UIDS.stop)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(["src", "."])}
    other = await asyncio.create_subprocess_exec(*argv, stdout=subprocess.PIPE, env=environment)
    assert other.stdout is not None
    assert await other.stdout.readline() == b"ready\n"
    with pytest.raises(SandboxUnavailable, match="another talaria"):
        await launcher.found()
    other.send_signal(signal.SIGKILL)
    await other.wait()
    assert await launcher.found() == [Found("one", {"session": "s1"}, running=True)]
    link = await launcher.attach("one")
    assert (await shell(link, "ls; kill -0 $(cat /tmp/pid) && echo runs")).output == "file\nruns\n"
    await link.close()


async def test_a_cancelled_launch_leaves_nothing_that_runs(launcher: Bubblewrap, state: Path) -> None:
    for delay in (0.0, 0.002, 0.005, 0.01, 0.02, 0.03):
        task = asyncio.create_task(launcher.launch(sandbox()))
        await asyncio.sleep(delay)
        task.cancel()
        try:
            await (await task).close()
        except asyncio.CancelledError:
            assert not any(each.running for each in await launcher.found())
        await launcher.remove("one", workspace=True)
        assert left_over(state) == []


async def test_a_state_folder_may_have_a_path_of_any_length(state: Path) -> None:
    launcher = Bubblewrap(state / ("long" * 50), agent=lambda: SOURCE, uids=UIDS)
    link = await launcher.launch(sandbox("n" * 64))
    assert (await shell(link, "echo well")).output == "well\n"
    await link.close()
    await launcher.remove("n" * 64, workspace=True)
    await launcher.close()


async def test_many_are_launched_at_once(launcher: Bubblewrap) -> None:
    names = [f"number-{number}" for number in range(8)]
    links = await asyncio.gather(*(launcher.launch(sandbox(name)) for name in names))
    answers = await asyncio.gather(*(shell(link, "echo $$ >file; ls") for link in links))
    assert {answer.output for answer in answers} == {"file\n"}
    await asyncio.gather(*(link.close() for link in links))
    await asyncio.gather(*(launcher.remove(name, workspace=True) for name in names))
    assert await launcher.found() == []


async def test_a_start_that_fails_says_why(state: Path) -> None:
    launcher = Bubblewrap(state, agent=lambda: SOURCE, uids=UIDS)
    await (await launcher.launch(sandbox())).close()
    await launcher.remove("one", workspace=False)
    (state / "one/workspace").rename(state / "one/elsewhere")
    (state / "one/workspace").touch()
    with pytest.raises(SandboxLost, match=r"did not start: .*workspace"):
        await _answer(launcher)
    await launcher.remove("one", workspace=True)
    await launcher.close()
    assert left_over(state) == []


async def _answer(launcher: Bubblewrap) -> None:
    link = await launcher.launch(sandbox())
    try:
        assert (await shell(link, "true")).code == 0
    finally:
        await link.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives each its own uid")
async def test_started_by_root_each_has_a_uid_of_its_own_and_a_workspace_nobody_else_reads(
    launcher: Bubblewrap, state: Path
) -> None:
    links = [await launcher.launch(sandbox(name)) for name in ("one", "two")]
    owners = [(state / name / "workspace").stat() for name in ("one", "two")]
    assert owners[0].st_uid != owners[1].st_uid
    assert {owner.st_uid in UIDS for owner in owners} == {True}
    assert {stat.S_IMODE(owner.st_mode) for owner in owners} == {0o700}
    for link, owner in zip(links, owners, strict=True):
        assert (await shell(link, "id -u")).output == "1000\n"
        assert any(line.endswith(f" {owner.st_uid}") for line in processes())
        await link.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="others are kept out only of what root owns")
async def test_a_state_folder_that_others_cannot_enter_is_told(state: Path) -> None:
    state.parent.chmod(0o700)
    with pytest.raises(SandboxUnavailable, match=r"closed to other users.*sandbox\.state"):
        await Bubblewrap(state, agent=lambda: SOURCE).check()


async def test_a_machine_without_bubblewrap_is_told_what_to_install(
    state: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxUnavailable, match=r"bubblewrap.*install"):
        await Bubblewrap(state, agent=lambda: SOURCE).check()
