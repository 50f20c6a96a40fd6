"""A machine for classic BPF, as far as seccomp filters use it, to try a filter of any architecture on this one."""

import struct

EQUAL, GREATER, ANY_BIT = 0x15, 0x25, 0x45


def answer(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """What a filter answers to a call. The layout is `struct seccomp_data` of seccomp(2)."""
    data = struct.pack("=iIQ6Q", number, architecture, 0, *(arguments + (0,) * (6 - len(arguments))))
    steps = list(struct.iter_unpack("=HBBI", program))
    at = value = 0
    while True:
        code, yes, no, operand = steps[at]
        at += 1
        match code:
            case 0x20:
                (value,) = struct.unpack_from("=I", data, operand)
            case 0x06:
                return operand
            case _:
                at += yes if _holds(code, value, operand) else no


def _holds(code: int, value: int, operand: int) -> bool:
    tests = {EQUAL: value == operand, GREATER: value > operand, ANY_BIT: bool(value & operand)}
    return tests[code]
