"""The seccomp filter of a sandbox, as the program in classic BPF that `bwrap --seccomp` loads.

Each rule jumps over its own answer when it does not match, so no jump is long and the order is the order of reading.
Sources: seccomp(2), linux/filter.h, linux/seccomp.h, linux/audit.h.
"""

import errno
import struct
from collections.abc import Iterable

from talaria.sandbox.bubblewrap.syscalls import CLONE, CLONE3, DENIED, IOCTL, NEWEST, PERSONALITY, SOCKET

ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""Machine, as `uname -m` has it → its AUDIT_ARCH value, and its column in the table of calls."""

_LOAD, _EQUAL, _GREATER, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_NUMBER, _ARCHITECTURE = 0, 4
_FIRST, _SECOND = 16, 24
"""Offsets into `struct seccomp_data`: of arguments the lower half, the only one the kernel looks at in these calls."""

_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_REFUSED, _MISSING = _ERROR | errno.EPERM, _ERROR | errno.ENOSYS

_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID and NET."""
_TERMINAL_TRICKS = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX put words into the mouth of whoever sits at the terminal."""
_PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)
_FAMILIES = (1, 2, 10, 16)
"""AF_UNIX, INET, INET6 and NETLINK. The others only widen what of the kernel can be reached (AF_ALG, AF_VSOCK, …)."""

Instruction = tuple[int, int, int, int]
"""Code, jump if true, jump if false, value."""


def program(machine: str) -> bytes | None:
    """Return the filter for a machine (`platform.machine()`), or None where its calls are not known."""
    if machine not in ARCHITECTURES:
        return None
    architecture, column = ARCHITECTURES[machine]
    return b"".join(struct.pack("=HBBI", *each) for each in _instructions(architecture, column))


def _instructions(architecture: int, column: int) -> list[Instruction]:
    return [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        *_answer(_GREATER, NEWEST, _MISSING),
        *_answer(_EQUAL, CLONE3[column], _MISSING),
        *(step for call in DENIED.values() for step in _denied(call[column])),
        *_arguments(CLONE[column], _FIRST, _answer(_ANY_BIT, _NEW_NAMESPACES, _REFUSED)),
        *_arguments(IOCTL[column], _SECOND, _one_of(_TERMINAL_TRICKS, _REFUSED)),
        *_arguments(SOCKET[column], _FIRST, [*_one_of(_FAMILIES, _ALLOW), (_RETURN, 0, 0, _REFUSED)]),
        *_arguments(PERSONALITY[column], _FIRST, [*_one_of(_PERSONALITIES, _ALLOW), (_RETURN, 0, 0, _REFUSED)]),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _denied(number: int | None) -> list[Instruction]:
    return [] if number is None else _answer(_EQUAL, number, _REFUSED)


def _answer(test: int, value: int, answer: int) -> list[Instruction]:
    return [(test, 0, 1, value), (_RETURN, 0, 0, answer)]


def _one_of(values: Iterable[int], answer: int) -> list[Instruction]:
    return [step for value in values for step in _answer(_EQUAL, value, answer)]


def _arguments(number: int, offset: int, rules: list[Instruction]) -> list[Instruction]:
    """Rules about an argument of one call; what they let through is allowed."""
    return [(_EQUAL, 0, len(rules) + 2, number), (_LOAD, 0, 0, offset), *rules, (_RETURN, 0, 0, _ALLOW)]
