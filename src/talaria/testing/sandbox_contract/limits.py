"""What takes too much is ended or refused, and the sandbox is as good as before."""

# ruff: noqa: D102 - the names of tests are their docstrings

import time
from pathlib import Path

import pytest

from talaria.core.errors import InvalidRequest
from talaria.ports.sandbox import Command, Sandbox
from talaria.testing.sandbox_contract.opening import (
    SECONDS,
    SIZE,
    Opening,
    nothing_runs,
    processes,
    python,
    shell,
    whole,
)

_MIB = 1024 * 1024
_BOMB = """
import os, time
made = 0
while True:
    try: child = os.fork()
    except OSError: break
    if child == 0: time.sleep(300)
    made += 1
print(made, flush=True)
time.sleep(300)
"""
_COMET = """
import os
if os.fork(): os._exit(0)
os.setsid()
marker = "comet"
for _ in range(8):
    if os.fork() == 0: break
while True:
    try:
        if os.fork(): os._exit(0)
    except OSError: pass
"""
_FILES = """
n = 0
while True:
    with open(f"file-{n}", "wb") as file: file.write(bytes(1_000_000))
    n += 1
"""
_HIDDEN = """
import os, time
files = []
for n in range(200):
    file = open(f"gone-{n}", "wb"); os.unlink(f"gone-{n}")
    file.write(bytes(1_000_000)); file.flush(); files.append(file)
    time.sleep(0.02)
time.sleep(300)
"""


class LimitContract(Opening):
    """Processes, memory, disk."""

    async def test_a_bomb_of_forks_stays_within_the_limit_and_ends(self, sandbox: Sandbox) -> None:
        done = await python(sandbox, _BOMB, timeout=3)
        assert done.reason == "timeout"
        assert int(done.head or b"0") <= SIZE.pids
        assert await nothing_runs(sandbox, "fork")
        assert (await shell(sandbox, "echo well")).head == b"well\n"

    async def test_what_forks_faster_than_one_can_look_ends_too(self, sandbox: Sandbox) -> None:
        began = time.monotonic()
        await python(sandbox, _COMET, timeout=2)
        assert await nothing_runs(sandbox, "comet")
        assert time.monotonic() - began < SECONDS

    async def test_a_bomb_elsewhere_is_told_in_words(self, sandbox: Sandbox) -> None:
        seen = await shell(sandbox, ":(){ :|:& };:; sleep 1", timeout=5)
        assert seen.reason in ("exited", "timeout")
        assert (await shell(sandbox, "echo well")).head == b"well\n"
        assert len(await processes(sandbox)) <= 6

    async def test_what_takes_too_much_memory_is_ended_and_nothing_else(self, sandbox: Sandbox) -> None:
        hog = f"data = bytearray(b'x' * {SIZE.memory * 2}); print('had it')"
        done = await python(sandbox, hog)
        assert done.exit_code != 0
        assert done.reason == "memory" or b"MemoryError" in whole(done)
        assert b"had it" not in whole(done).splitlines()
        assert (await shell(sandbox, "echo well")).head == b"well\n"

    async def test_what_fills_the_disk_is_ended(self, sandbox: Sandbox, tmp_path: Path) -> None:
        done = await python(sandbox, _FILES)
        assert done.reason == "disk" or b"No space" in whole(done) or b"quota" in whole(done)
        with pytest.raises(InvalidRequest, match="room"):
            await sandbox.write("more", bytes(4 * _MIB))
        assert (await shell(sandbox, "rm file-*; echo well")).head == b"well\n"
        await shell(sandbox, "sleep 0.5")
        await sandbox.write("more", bytes(4 * _MIB))

    @pytest.mark.parametrize("pause", [0, 0.1, 0.2])
    async def test_what_fills_the_disk_at_once_and_then_rests_is_ended(self, sandbox: Sandbox, pause: float) -> None:
        await shell(sandbox, f"sleep {pause}")
        size = SIZE.disk // 8
        done = await shell(sandbox, f"for n in $(seq 12); do head -c {size} /dev/zero >f$n || exit; done; sleep 60")
        assert done.reason == "disk" or done.exit_code == 1

    async def test_one_file_cannot_be_larger_than_the_disk(self, sandbox: Sandbox) -> None:
        done = await shell(sandbox, f"head -c {SIZE.disk * 2} /dev/zero > file")
        assert done.exit_code != 0
        assert (await sandbox.list())[0].size <= SIZE.disk
        with pytest.raises(InvalidRequest, match="room"):
            await sandbox.write("other", bytes(SIZE.disk + _MIB))

    async def test_files_without_names_count_too(self, sandbox: Sandbox) -> None:
        done = await python(sandbox, _HIDDEN, timeout=20)
        assert done.reason == "disk" or b"No space" in whole(done) or b"quota" in whole(done)

    async def test_tmp_is_bounded(self, sandbox: Sandbox) -> None:
        done = await shell(sandbox, f"head -c {SIZE.memory * 2} /dev/zero | tee /tmp/a > /tmp/b")
        assert done.exit_code != 0 or b"No space" in whole(done)
        assert (await shell(sandbox, "rm -f /tmp/a /tmp/b; echo well")).head == b"well\n"

    async def test_what_runs_long_holds_up_nobody(self, sandbox: Sandbox) -> None:
        done = await sandbox.exec(Command(argv=["bash", "-c", "while :; do :; done"], timeout=1))
        assert done.reason == "timeout"
