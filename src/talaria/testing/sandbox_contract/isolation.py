"""What runs inside sees and touches nothing of the host, nor of other sandboxes, nor the agent."""

# ruff: noqa: D102 - the names of tests are their docstrings

import asyncio
import os
import secrets
import socket
from pathlib import Path

import pytest

from talaria.ports.sandbox import Command, Sandbox
from talaria.testing.sandbox_contract.opening import Opening, nothing_runs, processes, python, shell, whole

_CALL = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def may(*args):
    return libc.syscall(*args) >= 0
"""
_MOUNT = f"""{_CALL}
kinds = [b"tmpfs", b"proc", b"sysfs", b"overlay"]
def mounts():
    return any(libc.mount(b"none", b"/tmp", kind, 0, None) == 0 for kind in kinds) or (
        libc.mount(b"/", b"/tmp", None, 4096, None) == 0)
if mounts(): sys.exit("mounted")
for flags in (0x10000000, 0x10020000, 0x00020000):
    if os.fork() == 0:
        if libc.unshare(flags) == 0 and mounts(): os._exit(1)
        os._exit(0)
    if os.wait()[1]: sys.exit("mounted in a new namespace")
"""
_TRACE = f"""{_CALL}
ATTACH, SEIZE = 16, 0x4206
for pid in (1, os.getppid()):
    if libc.ptrace(ATTACH, pid, 0, 0) == 0 or libc.ptrace(SEIZE, pid, 0, 0) == 0: sys.exit(f"traced {{pid}}")
    for name in ("mem", "environ", "maps", "fd/0", "fd/1", "fd/3", "root/etc", "cwd/x", "auxv"):
        try:
            with open(f"/proc/{{pid}}/{{name}}", "rb") as file: file.read(1)
        except OSError: continue
        sys.exit(f"opened {{pid}} {{name}}")
    try: os.listdir(f"/proc/{{pid}}/fd"); sys.exit("listed files")
    except OSError: pass
    handle = libc.syscall(434, pid, 0)
    if handle >= 0 and any(may(438, handle, fd, 0) for fd in range(8)): sys.exit("took a file")
"""
_SYSTEM = """
import os, sys
for path in (
    "/usr/x", "/bin/x", "/lib/x", "/etc/x", "/x", "/sys/x", "/etc/passwd", "/usr/bin/env", "/dev/mem", "/dev/kmsg",
    "/proc/sys/kernel/hostname", "/proc/sys/vm/swappiness", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
    "/proc/1/oom_score_adj", "/proc/1/setgroups",
):
    try: os.close(os.open(path, os.O_WRONLY | (0 if path.startswith(("/dev", "/proc")) else os.O_CREAT)))
    except OSError: continue
    print("may write", path)
"""
_DEVICES = """
import os, stat
for folder, _, names in os.walk("/dev"):
    for name in names:
        try: mode = os.stat(os.path.join(folder, name)).st_mode
        except OSError: continue
        if stat.S_ISBLK(mode) or name in ("mem", "kmem", "port", "kvm", "fuse", "loop-control"): print(folder, name)
try: os.mknod("/tmp/disk", stat.S_IFBLK | 0o600, os.makedev(8, 0)); print("made a device")
except OSError: pass
"""


class IsolationContract(Opening):
    """Processes, files, privileges."""

    async def test_commands_have_no_privileges_and_get_none(self, sandbox: Sandbox) -> None:
        status = dict(
            line.split(":\t", 1) for line in whole(await shell(sandbox, "cat /proc/self/status")).decode().splitlines()
            if ":\t" in line
        )  # fmt: skip
        assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == int(status["CapAmb"], 16) == 0
        assert int(status["CapBnd"], 16) == 0
        assert status["NoNewPrivs"] == "1"
        assert "0" not in status["Uid"].split()

    async def test_system_calls_are_filtered(self, sandbox: Sandbox) -> None:
        assert b"Seccomp:\t2" in whole(await shell(sandbox, "cat /proc/self/status"))

    async def test_the_processes_of_the_host_are_not_seen(self, sandbox: Sandbox) -> None:
        seen = await processes(sandbox)
        assert len(seen) <= 6
        assert not any("pytest" in line for line in seen)

    async def test_no_dead_processes_pile_up(self, sandbox: Sandbox) -> None:
        for _ in range(5):
            await shell(sandbox, "for n in 1 2 3 4 5; do (true & true &) ; done; sleep 300 & true")
        assert [line for line in await processes(sandbox) if line.startswith("Z")] == []

    async def test_the_files_of_the_host_are_not_seen(self, sandbox: Sandbox, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        await asyncio.to_thread(secret.write_text, "of the host")
        paths = [secret, Path.home() / ".bashrc", Path.home() / ".profile", Path("/etc/shadow"), Path("/root/.bashrc")]
        script = 'for path; do cat "$path" 2>/dev/null && echo seen $path; done; true'
        done = await python(sandbox, "import subprocess, sys; subprocess.run(['bash', '-c', *sys.argv[1:]])", script,
                            "-", *map(str, paths))  # fmt: skip
        assert whole(done) == b""

    async def test_the_environment_of_the_host_is_not_seen(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        secret = secrets.token_hex()
        monkeypatch.setenv("TALARIA_SECRET_OF_THE_SUITE", secret)
        async with self.open_sandbox(tmp_path) as sandbox:
            done = await shell(sandbox, "env; cat /proc/*/environ 2>/dev/null")
        assert secret.encode() not in whole(done)

    async def test_the_name_of_the_host_is_not_seen(self, sandbox: Sandbox) -> None:
        assert whole(await shell(sandbox, "cat /proc/sys/kernel/hostname")).decode().strip() != socket.gethostname()

    async def test_the_system_cannot_be_written(self, sandbox: Sandbox) -> None:
        assert whole(await python(sandbox, _SYSTEM)) == b""

    async def test_there_are_no_devices_of_the_host(self, sandbox: Sandbox) -> None:
        assert whole(await python(sandbox, _DEVICES)) == b""

    async def test_nothing_can_be_mounted(self, sandbox: Sandbox) -> None:
        done = await python(sandbox, _MOUNT)
        assert (done.exit_code, whole(done)) == (0, b"")

    async def test_the_agent_cannot_be_traced_or_looked_into(self, sandbox: Sandbox) -> None:
        done = await python(sandbox, _TRACE)
        assert (done.exit_code, whole(done)) == (0, b"")

    @pytest.mark.parametrize("signal", ["KILL", "STOP", "TERM", "INT", "HUP", "SEGV", "CHLD", "USR1", "ALRM"])
    async def test_the_agent_cannot_be_killed(self, sandbox: Sandbox, signal: str) -> None:
        await shell(sandbox, f"kill -{signal} 1; kill -{signal} -1")
        assert (await shell(sandbox, "echo well")).head == b"well\n"

    async def test_workspace_is_its_name_and_the_home(self, sandbox: Sandbox) -> None:
        assert (await shell(sandbox, "pwd; cd; pwd")).head == b"/workspace\n/workspace\n"

    async def test_tmp_can_be_written_and_run_from_by_one_sandbox_alone(self, sandbox: Sandbox, tmp_path: Path) -> None:
        mark = secrets.token_hex()
        await shell(sandbox, f"echo {mark} > /tmp/{mark}")
        assert not await asyncio.to_thread(Path("/tmp", mark).exists)  # noqa: S108
        async with self.open_sandbox(tmp_path / "other") as other:
            assert mark.encode() not in whole(await shell(other, "ls /tmp /dev/shm"))
        assert whole(await shell(sandbox, f"cat /tmp/{mark}")).decode().strip() == mark

    async def test_two_sandboxes_see_nothing_of_each_other(self, sandbox: Sandbox, tmp_path: Path) -> None:
        mark = f"301.{secrets.randbelow(10**9)}"
        began = asyncio.Event()
        await sandbox.write(mark, b"of the first")
        async with self.open_sandbox(tmp_path / "other") as other:
            script = f"echo on; sleep {mark}"
            task = asyncio.create_task(_run(sandbox, script, began))
            async with asyncio.timeout(30):
                await began.wait()
            assert await nothing_runs(other, mark)
            assert await other.list() == []
            found = await shell(other, f"find / -name '{mark}' -not -path '/proc/*' 2>/dev/null; kill -9 -1")
            assert mark.encode() not in whole(found)
            assert not await nothing_runs(sandbox, mark)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def test_after_closing_nothing_of_it_runs_on_the_host(self, tmp_path: Path) -> None:
        mark = f"302.{secrets.randbelow(10**9)}"
        began = asyncio.Event()
        async with self.open_sandbox(tmp_path) as sandbox:
            task = asyncio.create_task(_run(sandbox, f"setsid sleep {mark} & echo on; sleep {mark}", began))
            async with asyncio.timeout(30):
                await began.wait()
        await asyncio.gather(task, return_exceptions=True)
        assert await asyncio.to_thread(_on_this_host, mark) == []


async def _run(sandbox: Sandbox, script: str, began: asyncio.Event) -> None:
    await sandbox.exec(Command(argv=["bash", "-c", script]), lambda _: began.set())


def _on_this_host(mark: str) -> list[str]:
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in line and int(process.name) != os.getpid():
            found.append(line.decode(errors="replace"))
    return found
