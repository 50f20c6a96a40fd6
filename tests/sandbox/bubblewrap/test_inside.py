"""What a program in a bubblewrap sandbox sees and may take."""

import os
from pathlib import Path

import pytest

from talaria.sandbox.bubblewrap import Bubblewrap
from tests.sandbox.bubblewrap.plain_agent import SIZE, python, run, sandbox, shell

pytestmark = pytest.mark.service("bwrap")


async def test_nothing_of_the_host_but_its_programs_is_there(launcher: Bubblewrap, state: Path) -> None:
    link = await launcher.launch(sandbox())
    everything = (await shell(link, "ls -A /")).output.split()
    assert set(everything) - {"lib32", "lib64", "libx32"} == {
        "bin", "dev", "etc", "lib", "proc", "run", "sbin", "tmp", "usr", "workspace",
    }  # fmt: skip
    for path in ("/root", "/home", "/etc/shadow", "/etc/ssh", "/var", str(state), "/run/docker.sock", "/sys"):
        assert (await run(link, "test", "-e", path)).code == 1, path
    assert (await shell(link, "cd /proc; ls -d [0-9]* | wc -l")).output.strip() in {"3", "4", "5"}
    assert (await shell(link, "hostname; id -un; ls -A /run /tmp /dev/shm")).output == (
        "sandbox\nsandbox\n/dev/shm:\n\n/run:\nagent.py\n\n/tmp:\n"
    )
    await link.close()


async def test_programs_have_no_privileges_and_an_environment_of_their_own(
    launcher: Bubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "of the host")
    link = await launcher.launch(sandbox())
    status = dict(line.split(":", 1) for line in (await shell(link, "cat /proc/self/status")).output.splitlines())
    assert {name: status[name].strip() for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb")} == dict.fromkeys(
        ("CapEff", "CapPrm", "CapBnd", "CapAmb"), "0" * 16
    )
    assert (status["NoNewPrivs"].strip(), status["Seccomp"].strip()) == ("1", "2")
    names = {line.split("=")[0] for line in (await run(link, "env")).output.splitlines()}
    assert names == {"HOME", "LANG", "PATH", "PWD", "USER"}
    await link.close()


async def test_only_the_workspace_and_private_memory_can_be_written(launcher: Bubblewrap) -> None:
    link = await launcher.launch(sandbox())
    for path in (
        "/file",
        "/usr/file",
        "/etc/file",
        "/dev/file",
        "/run/file",
        "/proc/sys/kernel/hostname",
        "/etc/passwd",
    ):
        assert (await shell(link, f"echo x >{path}")).code != 0, path
    for path in ("/workspace/file", "/tmp/file", "/dev/shm/file"):
        assert (await shell(link, f"echo x >{path}")).code == 0, path
    megabytes = SIZE.memory // 4 // 1024 // 1024
    for folder in ("/tmp", "/dev/shm"):
        filled = await shell(link, f"df -m {folder} | tail -1 | awk '{{print $2}}'")
        assert filled.output.strip() == str(megabytes)
    await link.close()


async def test_no_descriptor_of_the_host_reaches_a_program(launcher: Bubblewrap) -> None:
    inheritable = os.open(__file__, os.O_RDONLY)
    os.set_inheritable(inheritable, True)
    link = await launcher.launch(sandbox())
    os.close(inheritable)
    seen = await python(link, "import os; print(*(os.readlink(f'/proc/1/fd/{n}') for n in os.listdir('/proc/1/fd')))")
    kinds = [each.split(":")[0] for each in seen.output.split() if "memory." not in each and not each.endswith("/log")]
    # Nothing as input, where it listens, who is connected, and what it reads from the command.
    assert sorted(kinds) == ["/dev/null", "pipe", "socket", "socket"]
    await link.close()


async def test_processes_are_limited(launcher: Bubblewrap) -> None:
    link = await launcher.launch(sandbox())
    script = (
        "import os, time\n"
        "made = 0\n"
        "try:\n"
        "    while made < 500:\n"
        "        if os.fork() == 0:\n"
        "            time.sleep(2); os._exit(0)\n"
        "        made += 1\n"
        "except OSError:\n"
        "    pass\n"
        "print(made)\n"
    )
    assert 20 <= int((await python(link, script)).output) <= SIZE.pids
    await link.close()


async def test_memory_is_limited(launcher: Bubblewrap) -> None:
    link = await launcher.launch(sandbox())
    answer = await python(link, f"x = b'x' * {SIZE.memory * 2}; print('had it')")
    assert answer.code != 0
    assert "had it" not in answer.output
    assert (await shell(link, "echo well")).output == "well\n"
    await link.close()


async def test_a_file_is_no_larger_than_the_workspace_may_be(launcher: Bubblewrap) -> None:
    link = await launcher.launch(sandbox())
    assert (await run(link, "truncate", "--size", str(SIZE.disk), "file")).code == 0
    assert (await run(link, "truncate", "--size", str(SIZE.disk + 1), "file")).code != 0
    await link.close()


async def test_two_sandboxes_do_not_see_each_other(launcher: Bubblewrap) -> None:
    first, second = [await launcher.launch(sandbox(name)) for name in ("one", "two")]
    await shell(first, "echo mine >/workspace/file; echo mine >/tmp/file; echo mine >/dev/shm/file")
    assert (await shell(second, "ls -A /workspace /tmp /dev/shm")).output == "/dev/shm:\n\n/tmp:\n\n/workspace:\n"
    listen = (
        "import os, socket\n"
        "sockets = socket.socket(socket.AF_UNIX), socket.socket()\n"
        "sockets[0].bind('\\0name'); sockets[1].bind(('127.0.0.1', 4711))\n"
        "[each.listen() for each in sockets]\n"
        "os.fork() and os._exit(0)\n"
        "os.dup2(os.open('/dev/null', os.O_RDWR), 1); os.dup2(1, 2)\n"
        "import time; time.sleep(60)\n"
    )
    assert (await python(first, listen)).code == 0
    dial = (
        "import socket\n"
        "for family, address in ((socket.AF_UNIX, '\\0name'), (socket.AF_INET, ('127.0.0.1', 4711))):\n"
        "    print(socket.socket(family).connect_ex(address))\n"
    )
    assert (await python(first, dial)).output == "0\n0\n"
    assert (await python(second, dial)).output == "111\n111\n"
    await first.close()
    await second.close()
