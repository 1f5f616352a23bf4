"""The filter of system calls: a list of what is allowed, arguments looked at where they matter.

Standard library only, like all that worker.py imports. Whatever calls.py does not list is answered
ENOSYS, "this kernel has no such call": libraries know a way on from there (clone3, openat2 and rseq
are such calls), and a call that a later kernel adds is refused before anybody has heard of it. A
listed call whose argument is refused is answered EPERM: the kernel does have it.

    clone              as pthread_create calls it: no process, no vfork, no namespace
    open               for reading; cuda: what is there already (landlock says which for writing)
    fcntl              copies of descriptors, close-on-exec; cuda: O_NONBLOCK; no owner, no lock
    ioctl              openmp: only isatty's; cuda: the driver's own requests
    tgkill             this process, by SIGABRT, SIGKILL or pthread_cancel's signal: it cannot stop
                       or continue itself
    prctl              names of threads and of memory
    prlimit64          its own limits, openmp: to read them
    sched_setaffinity  the calling thread
    clock_gettime      this process's clocks and the machine's, not other processes'

Not covered: what pointers lead to (paths, structures), which a filter cannot read: stat tells of
any file that it is there, unless the worker has a root of its own (files.py).
"""

import ctypes
import os
import platform
import struct
from collections.abc import Mapping
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING or __package__:
    from regraph_kg.evaluation.calls import FLAVOURS
else:  # worker.py, run by path, has made this folder's files importable
    from calls import FLAVOURS

EPERM, ENOTTY, ENOSYS = 1, 25, 38
PR_SET_SECCOMP, PR_SET_NAME, PR_GET_NAME, PR_SET_VMA = 22, 15, 16, 0x53564D41
SECCOMP_CALL = (317, 277)
AUDIT_ARCH = (0xC000003E, 0xC00000B7)
X32_BIT = 0x40000000

LOAD, AND, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000

EXACTLY = 0xFFFFFFFF
PTHREAD_CREATE, DETACHED = 0x3D0F00, 0x400000
"""Flags of clone: musl sets one more, which has no meaning."""
TEMPORARY_FILE = 0x400000
CREATING = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | TEMPORARY_FILE | os.O_ASYNC
WRITING = CREATING | os.O_RDWR
HARMLESS_FCNTL = (0, 1, 2, 3, 1030)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC."""
F_SETFL = 4
TCGETS = 0x5401
SIGABRT, SIGKILL, SIGCANCEL = 6, 9, 32
OWN_CLOCKS = 0xFFFFFFF0
"""Clock ids without these bits; those of other processes are negative."""
DRIVER_REQUESTS = (
    *((0xFF00, ord(kind) << 8) for kind in "FG"),  # /dev/nvidia*, /dev/dxg
    *((EXACTLY, 0x30000001), (EXACTLY, 0x30000002), (0xFFFFFF00, 0)),  # /dev/nvidia-uvm
)


@dataclass(frozen=True)
class Look:
    """A word of a call's arguments must equal a value under its mask; pairs are (mask, value)."""

    offset: int
    pairs: tuple[tuple[int, int], ...]
    errno: int = EPERM

    def rules(self) -> list[bytes]:
        """Go on after these where one fits, else refuse."""
        found = []
        for left, (mask, value) in zip(range(len(self.pairs), 0, -1), self.pairs, strict=True):
            found += [load(self.offset), instruction(AND, mask)]
            found.append(jump(JUMP_EQUAL, value, 3 * left - 2, 0))
        return [*found, refuse(self.errno)]


def low(argument: int) -> int:
    """Offset of an argument's low word, which is all the kernel takes of an int."""
    return 16 + 8 * argument


def one_of(argument: int, *values: int) -> Look:
    """The argument's low word is one of these."""
    return Look(low(argument), tuple((EXACTLY, value) for value in values))


def without(argument: int, bits: int) -> Look:
    """None of these bits is set in the argument."""
    return Look(low(argument), ((bits, 0),))


def looks(flavour: str, pid: int) -> Mapping[str, tuple[Look, ...]]:
    """What is looked at, by call: all of it must be right."""
    cuda = flavour == "cuda"
    requests = ((EXACTLY, TCGETS), *(DRIVER_REQUESTS if cuda else ()))
    null = (Look(low(2), ((EXACTLY, 0),)), Look(low(2) + 4, ((EXACTLY, 0),)))
    commands = (one_of(1, *HARMLESS_FCNTL, F_SETFL), without(2, os.O_ASYNC))
    return {
        "clone": (Look(low(0), ((EXACTLY & ~DETACHED & ~0xFF, PTHREAD_CREATE),)),),
        "openat": (without(2, CREATING if cuda else WRITING),),
        "fcntl": commands if cuda else (one_of(1, *HARMLESS_FCNTL),),
        "ioctl": (Look(low(1), requests, ENOTTY),),
        "tgkill": (one_of(0, pid), one_of(2, SIGABRT, SIGKILL, SIGCANCEL)),
        "prctl": (one_of(0, PR_SET_NAME, PR_GET_NAME, PR_SET_VMA),),
        "prlimit64": (one_of(0, 0, pid), *(() if cuda else null)),
        "sched_setaffinity": (one_of(0, 0, pid),),
        "clock_gettime": (without(0, OWN_CLOCKS),),
    }


def architecture() -> int | None:
    """Column of the tables of system calls; None where there is none for this machine."""
    return {"x86_64": 0, "aarch64": 1}.get(platform.machine())


def confine(libc: ctypes.CDLL, flavour: str) -> bool:
    """Allow the calls of a flavour only, in every thread, for good; whether the kernel does."""
    machine = architecture()
    if machine is None:
        return False
    code = program(machine, os.getpid(), flavour)
    buffer = ctypes.create_string_buffer(code)
    filter_ = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
    every_thread = 1
    refused = libc.syscall(SECCOMP_CALL[machine], 1, every_thread, filter_)
    if refused:
        refused = libc.prctl(PR_SET_SECCOMP, 2, filter_, 0, 0)
    return not refused


def program(machine: int, pid: int, flavour: str) -> bytes:
    """The filter: classic BPF over seccomp_data (nr, arch, instruction pointer, six arguments)."""
    rules = [load(4), jump(JUMP_EQUAL, AUDIT_ARCH[machine], 1, 0), refuse(ENOSYS), load(0)]
    if machine == 0:
        rules += [jump(JUMP_AT_LEAST, X32_BIT, 0, 1), refuse(ENOSYS)]
    looked_at = looks(flavour, pid)
    for name, numbers in FLAVOURS[flavour].items():
        number = numbers[machine]
        if number is not None:
            body = [rule for look in looked_at.get(name, ()) for rule in look.rules()]
            rules += [jump(JUMP_EQUAL, number, 0, len(body) + 1), *body, allow()]
    return b"".join([*rules, refuse(ENOSYS)])


def instruction(code: int, value: int, true: int = 0, false: int = 0) -> bytes:
    """One of classic BPF."""
    return struct.pack("<HBBI", code, true, false, value)


def load(offset: int) -> bytes:
    """Load a 32-bit word of seccomp_data."""
    return instruction(LOAD, offset)


def jump(test: int, value: int, true: int, false: int) -> bytes:
    """Skip `true` or `false` instructions after comparing the loaded word with `value`."""
    return instruction(test, value, true, false)


def refuse(errno: int) -> bytes:
    """Fail the call with `errno`."""
    return instruction(RETURN, REFUSE | errno)


def allow() -> bytes:
    """Let the call through."""
    return instruction(RETURN, ALLOW)
