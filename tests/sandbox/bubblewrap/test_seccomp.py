"""The seccomp filter: what it answers to calls, on both architectures, and in a real sandbox."""

import errno
import json
import platform

import pytest

from talaria.sandbox.bubblewrap import Bubblewrap
from talaria.sandbox.bubblewrap.seccomp import ARCHITECTURES, program
from talaria.sandbox.bubblewrap.syscalls import CLONE, CLONE3, DENIED, IOCTL, PERSONALITY, SOCKET
from tests.sandbox.bubblewrap.bpf import answer
from tests.sandbox.bubblewrap.plain_agent import python, run, sandbox

ALLOWED, KILLED = 0x7FFF0000, 0x80000000
REFUSED, MISSING = 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
MACHINES = pytest.mark.parametrize("machine", ARCHITECTURES)
READ = {"x86_64": 0, "aarch64": 63}
OPENAT2 = 437


def asked(machine: str, number: int, *arguments: int) -> int:
    filter_ = program(machine)
    assert filter_ is not None
    return answer(filter_, ARCHITECTURES[machine][0], number, *arguments)


@MACHINES
def test_every_denied_call_is_refused_and_common_ones_are_not(machine: str) -> None:
    column = ARCHITECTURES[machine][1]
    numbers = {name: call[column] for name, call in DENIED.items()}
    assert {
        name for name, number in numbers.items() if number is not None and asked(machine, number) != REFUSED
    } == set()
    assert asked(machine, READ[machine]) == ALLOWED
    assert asked(machine, OPENAT2) == ALLOWED


@MACHINES
def test_no_process_makes_namespaces_but_threads_and_forks_go_on(machine: str) -> None:
    clone = CLONE[ARCHITECTURES[machine][1]]
    for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert asked(machine, clone, flag | 17) == REFUSED
    assert asked(machine, clone, 17) == ALLOWED
    assert asked(machine, clone, 0x3D0F00) == ALLOWED
    assert asked(machine, CLONE3[0]) == MISSING


@MACHINES
def test_sockets_are_of_the_internet_or_local(machine: str) -> None:
    socket = SOCKET[ARCHITECTURES[machine][1]]
    assert {family for family in range(64) if asked(machine, socket, family, 1) == ALLOWED} == {1, 2, 10, 16}


@MACHINES
def test_nobody_types_for_others_and_odd_personalities_are_refused(machine: str) -> None:
    column = ARCHITECTURES[machine][1]
    assert asked(machine, IOCTL[column], 0, 0x5412) == REFUSED
    assert asked(machine, IOCTL[column], 0, (1 << 32) | 0x5412) == REFUSED
    assert asked(machine, IOCTL[column], 0, 0x5413) == ALLOWED
    assert asked(machine, PERSONALITY[column], 0x40000) == REFUSED
    assert asked(machine, PERSONALITY[column], 0) == ALLOWED


@MACHINES
def test_calls_of_other_architectures_and_of_the_future_do_not_pass(machine: str) -> None:
    filter_ = program(machine)
    assert filter_ is not None
    assert answer(filter_, 0x40000003, READ[machine]) == KILLED
    assert asked(machine, 600) == MISSING
    assert asked(machine, 0x40000000 | READ[machine]) == MISSING


def test_a_machine_whose_calls_are_not_known_has_no_filter() -> None:
    assert program("riscv64") is None


@pytest.mark.service("bwrap")
async def test_a_real_sandbox_is_under_the_filter(launcher: Bubblewrap) -> None:
    column = ARCHITECTURES[platform.machine()][1]
    numbers = {name: call[column] for name, call in DENIED.items() if call[column] is not None}
    script = (
        "import ctypes, json, socket\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        f"numbers = {numbers!r}\n"
        "def error(number, *rest):\n"
        "    ctypes.set_errno(0)\n"
        "    libc.syscall(number, *(ctypes.c_long(each) for each in rest or [-1] * 6))\n"
        "    return ctypes.get_errno()\n"
        "print(json.dumps({name: error(number) for name, number in numbers.items()}))\n"
        f"print(error({CLONE[column]}, 0x10000000), error({CLONE3[column]}), error({SOCKET[column]}, 38, 5, 0))\n"
    )
    link = await launcher.launch(sandbox())
    errors, others = (await python(link, script)).output.splitlines()
    assert set(json.loads(errors).values()) == {errno.EPERM}
    assert others == f"{errno.EPERM} {errno.ENOSYS} {errno.EPERM}"
    assert (await run(link, "unshare", "--user", "true")).code != 0
    await link.close()


@pytest.mark.service("bwrap")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="calls the 32-bit gate of x86")
async def test_a_call_through_the_32_bit_gate_ends_the_program(launcher: Bubblewrap) -> None:
    script = (
        "import ctypes, mmap\n"
        "page = mmap.mmap(-1, 4096, prot=7)\n"
        "page.write(bytes.fromhex('b814000000cd80c3'))  # mov eax, 20 (getpid); int 0x80; ret\n"
        "ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()\n"
        "print('passed')\n"
    )
    link = await launcher.launch(sandbox())
    answer_ = await python(link, script)
    assert (answer_.code, answer_.output) == (-31, "")
    await link.close()
