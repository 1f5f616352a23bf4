"""Filters of system calls: classic BPF written down, and given to the kernel.

Standard library only, and few modules: worker.py and compilers.py load this file. Calls of another
architecture, or of x32, are answered ENOSYS.

Not covered: the targets of pointers, which a filter cannot read; machines that are neither x86_64
nor aarch64.
"""

import ctypes
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable  # which takes milliseconds

EPERM, ENOTTY, ENOSYS = 1, 25, 38
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_CALL, CAPSET_CALL = (317, 277), (126, 91)
AUDIT_ARCH = (0xC000003E, 0xC00000B7)
X32_BIT = 0x40000000
LOAD, AND, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000

Numbers = dict[str, tuple[int | None, int | None]]  # x86_64, aarch64; None: no such call there


def numbers(table: str) -> Numbers:
    """Calls by name; each is written "name x86_64 aarch64", "-" where there is none."""
    words = (call.split() for call in table.split(","))
    return {name: (int(x86), None if arm == "-" else int(arm)) for name, x86, arm in words}


def architecture() -> int | None:
    """Column of the tables of system calls; None where there is none for this machine."""
    return {"x86_64": 0, "aarch64": 1}.get(os.uname().machine)


def drop_privileges(libc: ctypes.CDLL) -> None:
    """Give up all capabilities, and the gaining of any by running a file."""
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    machine = architecture()
    if machine is not None:
        libc.syscall(CAPSET_CALL[machine], struct.pack("<Ii", 0x20080522, 0), bytes(24))


def install(libc: ctypes.CDLL, program: "Callable[[int], bytes]") -> bool:
    """Hold this process's threads, and all they start, to a filter; whether the kernel does."""
    machine = architecture()
    if machine is None:
        return False
    # `program` makes it for a column of the tables of system calls.
    code = program(machine)
    buffer = ctypes.create_string_buffer(code)
    filter_ = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
    every_thread = 1
    if libc.syscall(SECCOMP_CALL[machine], 1, every_thread, filter_) == 0:
        return True
    return bool(libc.prctl(PR_SET_SECCOMP, 2, filter_, 0, 0) == 0)


def beginning(machine: int) -> list[bytes]:
    """Refuse what is not this architecture's, and load the call's number (seccomp_data)."""
    rules = [load(4), instruction(JUMP_EQUAL, AUDIT_ARCH[machine], 1, 0), refuse(ENOSYS), load(0)]
    if machine == 0:
        rules += [instruction(JUMP_AT_LEAST, X32_BIT, 0, 1), refuse(ENOSYS)]
    return rules


def on_call(number: int | None, *instructions: bytes) -> list[bytes]:
    """The answer to a call; no instructions where the architecture lacks the call."""
    if number is None:
        return []
    return [instruction(JUMP_EQUAL, number, 0, len(instructions)), *instructions]


def require(offset: int, pairs: tuple[tuple[int, int], ...], errno: int = EPERM) -> list[bytes]:
    """Go on where a word equals a value under its mask, else refuse; pairs are (mask, value)."""
    rules = []
    for more, (mask, value) in zip(range(len(pairs), 0, -1), pairs, strict=True):
        rules += [
            load(offset),
            instruction(AND, mask),
            instruction(JUMP_EQUAL, value, 3 * more - 2, 0),
        ]
    return [*rules, refuse(errno)]


def unless(offset: int, value: int, errno: int = EPERM) -> list[bytes]:
    """Refuse where a word has this value, else go on."""
    return [load(offset), instruction(JUMP_EQUAL, value, 0, 1), refuse(errno)]


def low(argument: int) -> int:
    """Offset of an argument's low word, which is all the kernel takes of an int."""
    return 16 + 8 * argument


def without(argument: int, bits: int) -> list[bytes]:
    """Go on where none of these bits is set in the argument."""
    return require(low(argument), ((bits, 0),))


def instruction(code: int, value: int, true: int = 0, false: int = 0) -> bytes:
    """One of classic BPF; a jump skips `true` or `false` others, by the loaded word."""
    return struct.pack("<HBBI", code, true, false, value)


def load(offset: int) -> bytes:
    """Load a 32-bit word of seccomp_data."""
    return instruction(LOAD, offset)


def refuse(errno: int) -> bytes:
    return instruction(RETURN, REFUSE | errno)


def allow() -> bytes:
    return instruction(RETURN, ALLOW)
