"""However a command ends, nothing of it goes on; and what it does to end badly hurts nobody else."""

# ruff: noqa: D102 - the names of tests are their docstrings

import asyncio
import time

import pytest

from talaria.ports.sandbox import Command, Sandbox
from talaria.testing.sandbox_contract.opening import SECONDS, Opening, nothing_runs, processes, python, shell

_TIMEOUT = 1.0
_GRACE = 5.0
_DAEMON = """
import os, signal, sys, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
if os.fork(): os._exit(0) if sys.argv[1] == "leave" else time.sleep(300)
os.setsid()
if os.fork(): os._exit(0)
os.closerange(0, 100)
os.chdir("/")
time.sleep(300)
"""
_TREE = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        for _ in range(3):
            if os.fork() == 0: time.sleep(300)
        time.sleep(300)
time.sleep(300 if os.environ.get("STAY") else 0)
"""
_HANG = {
    "a child that is waited for": "sleep MARK & wait",
    "signals ignored": "bash -c 'trap \"\" TERM INT HUP; sleep MARK; sleep MARK'",
    "a pipe held open": "yes | sleep MARK",
    "setsid": "setsid sleep MARK & setsid sleep MARK; sleep MARK",
    "a session of its own that forks": "python3 -c 'import os, time; os.fork() or (os.setsid(), os.fork(), "
    "time.sleep(MARK))'; sleep MARK",
    "stopped by itself": "kill -STOP $$; sleep MARK",
    "its parent stopped": "kill -STOP $PPID; sleep MARK",
}
_DETACH = {
    "in the background": "sleep MARK & echo started",
    "with nohup and setsid": "nohup setsid sleep MARK >/dev/null 2>&1 & echo started",
    "by a fork of a fork": "( ( sleep MARK & ) & ); echo started",
    "with its output held open": "(exec 3>&1; sleep MARK) & disown -a; echo started",
}


class EndingContract(Opening):
    """Timeouts, cancelling, detaching, killing."""

    @pytest.mark.parametrize("how", _HANG)
    async def test_a_command_whose_time_is_up_ends_with_all_that_it_started(
        self, sandbox: Sandbox, mark: str, how: str
    ) -> None:
        began = time.monotonic()
        done = await shell(sandbox, f"echo before; {_HANG[how]}".replace("MARK", mark), timeout=_TIMEOUT)
        assert time.monotonic() - began < _TIMEOUT + _GRACE
        assert (done.head, done.reason, done.exit_code) == (b"before\n", "timeout", 137)
        assert await nothing_runs(sandbox, mark)

    @pytest.mark.parametrize("how", _DETACH)
    async def test_a_command_ends_at_once_however_it_detaches_others(
        self, sandbox: Sandbox, mark: str, how: str
    ) -> None:
        began = time.monotonic()
        done = await shell(sandbox, _DETACH[how].replace("MARK", mark), timeout=SECONDS)
        assert time.monotonic() - began < _GRACE
        assert (done.exit_code, done.head) == (0, b"started\n")
        assert await nothing_runs(sandbox, mark)

    @pytest.mark.parametrize("how", ["leave", "stay"])
    async def test_a_daemon_that_ignores_all_signals_ends_too(self, sandbox: Sandbox, mark: str, how: str) -> None:
        await python(sandbox, _DAEMON, how, mark, timeout=_TIMEOUT)
        assert await nothing_runs(sandbox, mark)

    async def test_a_tree_of_sessions_ends_as_a_whole(self, sandbox: Sandbox, mark: str) -> None:
        await python(sandbox, _TREE, mark)
        assert await nothing_runs(sandbox, mark)
        await sandbox.exec(Command(argv=["python3", "-c", _TREE, mark], env={"STAY": "1"}, timeout=_TIMEOUT))
        assert await nothing_runs(sandbox, mark)

    async def test_nothing_is_written_after_a_command_has_returned(self, sandbox: Sandbox) -> None:
        await shell(sandbox, "(sleep 1; touch late) & echo started")
        await shell(sandbox, "(sleep 1; touch late) & sleep 300", timeout=0.2)
        await shell(sandbox, "sleep 1.5")
        assert await sandbox.list() == []

    async def test_a_cancelled_command_ends_with_all_that_it_started(self, sandbox: Sandbox, mark: str) -> None:
        began = asyncio.Event()
        script = f"trap '' TERM; setsid sleep {mark} & echo on; sleep {mark}"
        running = asyncio.create_task(sandbox.exec(Command(argv=["bash", "-c", script]), lambda _: began.set()))
        async with asyncio.timeout(SECONDS):
            await began.wait()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
        assert await nothing_runs(sandbox, mark)

    async def test_others_commands_go_on_when_one_is_ended(self, sandbox: Sandbox, mark: str) -> None:
        began = asyncio.Event()
        script = f"setsid sleep {mark} & sleep {mark} & echo on; until [ -e go ]; do sleep 0.05; done; echo done"
        other = asyncio.create_task(sandbox.exec(Command(argv=["bash", "-c", script]), lambda _: began.set()))
        async with asyncio.timeout(SECONDS):
            await began.wait()
            await shell(sandbox, "sleep 300 & sleep 300", timeout=0.2)
            await shell(sandbox, "setsid sleep 300 & kill -9 $PPID; sleep 300")
            assert sum(f"sleep {mark}" in line for line in await processes(sandbox)) >= 2
            await sandbox.write("go", b"")
            done = await other
        assert (done.exit_code, done.head) == (0, b"on\ndone\n")

    @pytest.mark.parametrize("signal", ["KILL", "TERM", "INT", "HUP", "USR1", "SEGV", "CHLD"])
    async def test_a_command_that_sends_its_parent_a_signal_hurts_only_itself(
        self, sandbox: Sandbox, mark: str, signal: str
    ) -> None:
        script = f"setsid sleep {mark} & kill -{signal} $PPID; sleep 0.1; exit 5"
        done = await shell(sandbox, script, timeout=10)
        assert done.exit_code == (137 if signal == "KILL" else 5)
        assert await nothing_runs(sandbox, mark)

    async def test_a_command_that_closes_every_file_hurts_only_itself(self, sandbox: Sandbox) -> None:
        done = await python(sandbox, "import os; os.closerange(0, 4096); os.execvp('sleep', ['sleep', '0.1'])")
        assert done.exit_code == 0
        assert (await shell(sandbox, "echo well")).head == b"well\n"

    async def test_a_flood_is_ended_in_time(self, sandbox: Sandbox) -> None:
        began = time.monotonic()
        done = await sandbox.exec(Command(argv=["yes"], timeout=_TIMEOUT, head=10, tail=10))
        assert time.monotonic() - began < _TIMEOUT + _GRACE
        assert (len(done.head), len(done.tail), done.reason) == (10, 10, "timeout")
        assert done.dropped > 1_000
