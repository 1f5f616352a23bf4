"""What a seccomp filter answers, without a kernel: a reading of the classic BPF that it is."""

import struct
from collections.abc import Sequence

ALLOWED = 0
AUDIT_ARCH = (0xC000003E, 0xC00000B7)
_WORD = 0xFFFFFFFF


def answer(code: bytes, machine: int, call: int, arguments: Sequence[int] = ()) -> int:
    """The error number that a call gets, 0 where it is allowed."""
    given = [int(value) & (2**64 - 1) for value in (*arguments, *[0] * 6)][:6]
    data = struct.pack("<IIQ6Q", call, AUDIT_ARCH[machine], 0, *given)
    instructions = list(struct.iter_unpack("<HBBI", code))
    at = held = 0
    while True:
        operation, true, false, value = instructions[at]
        at += 1
        if operation == 0x20:
            held = struct.unpack_from("<I", data, value)[0]
        elif operation == 0x54:
            held &= value
        elif operation == 0x15:
            at += true if held == value else false
        elif operation == 0x35:
            at += true if held >= value else false
        else:
            assert operation == 0x06, operation
            return 0 if value == 0x7FFF0000 else value & 0xFFFF
