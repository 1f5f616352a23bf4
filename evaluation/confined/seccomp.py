"""The filter of system calls: a list of what is allowed, arguments looked at where they matter.

Standard library only, like all that worker.py imports. Whatever calls.py does not list is answered
ENOSYS, "this kernel has no such call": libraries know a way on from there (clone3, openat2 and rseq
are such calls), and a call that a later kernel adds is refused before anybody has heard of it. A
listed call whose argument is refused (`looks`) is answered EPERM: the kernel does have it.

Not covered: what a candidate under a tool sends to it (sendmsg), on sockets that were open before;
what pointers lead to (paths, structures), which a filter cannot read: stat tells of
any file that it is there, unless the worker has a root of its own (files.py).
"""

import ctypes
import os
from collections.abc import Mapping

from . import filters
from .calls import FLAVOURS
from .filters import low, require, without

PR_SET_NAME, PR_GET_NAME, PR_SET_VMA = 15, 16, 0x53564D41
EXACTLY = 0xFFFFFFFF
PTHREAD_CREATE, DETACHED = 0x3D0F00, 0x400000  # flags of clone; musl sets one more, without meaning
TEMPORARY_FILE = 0x400000
CREATING = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | TEMPORARY_FILE | os.O_ASYNC
WRITING = CREATING | os.O_RDWR
HARMLESS_FCNTL = (0, 1, 2, 3, 1030)  # f_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC
F_SETFL = 4
TCGETS = 0x5401
SIGABRT, SIGBUS, SIGKILL, SIGSEGV, SIGCANCEL = 6, 7, 9, 11, 32
OWN_CLOCKS = 0xFFFFFFF0  # clock ids without these bits; those of other processes are negative
DRIVER_REQUESTS = (
    *((0xFF00, ord(kind) << 8) for kind in "FG"),  # /dev/nvidia*, /dev/dxg
    *((EXACTLY, 0x30000001), (EXACTLY, 0x30000002), (0xFFFFFF00, 0)),  # /dev/nvidia-uvm
)
Instructions = list[bytes]


def one_of(argument: int, *values: int) -> Instructions:
    """The argument's low word is one of these."""
    return require(low(argument), tuple((EXACTLY, value) for value in values))


def none_of(argument: int, *values: int) -> Instructions:
    """The argument's low word is none of these."""
    return [rule for value in values for rule in filters.unless(low(argument), value)]


def looks(flavour: str, pid: int) -> Mapping[str, tuple[Instructions, ...]]:
    """Conditions on arguments, by call: all of them must hold."""
    cuda = flavour.startswith("cuda")
    requests = ((EXACTLY, TCGETS), *(DRIVER_REQUESTS if cuda else ()))
    null = (require(low(2), ((EXACTLY, 0),)), require(low(2) + 4, ((EXACTLY, 0),)))
    commands = (one_of(1, *HARMLESS_FCNTL, F_SETFL), without(2, os.O_ASYNC))
    return {
        "clone": (require(low(0), ((EXACTLY & ~DETACHED & ~0xFF, PTHREAD_CREATE),)),),
        "openat": (without(2, CREATING if cuda else WRITING),),
        "fcntl": commands if cuda else (one_of(1, *HARMLESS_FCNTL),),
        "ioctl": (require(low(1), requests, filters.ENOTTY),),
        "tgkill": (one_of(0, pid), one_of(2, SIGABRT, SIGKILL, SIGCANCEL)),
        "rt_sigaction": () if flavour.endswith("tool") else (none_of(0, SIGBUS, SIGSEGV),),
        "prctl": (one_of(0, PR_SET_NAME, PR_GET_NAME, PR_SET_VMA),),
        "prlimit64": (one_of(0, 0, pid), *(() if cuda else null)),
        "sched_setaffinity": (one_of(0, 0, pid),),
        "sendto": (require(low(4), ((EXACTLY, 0),)), require(low(4) + 4, ((EXACTLY, 0),))),
        "clock_gettime": (without(0, OWN_CLOCKS),),
    }


def confine(libc: ctypes.CDLL, flavour: str) -> bool:
    """Allow the calls of a flavour only, in every thread, for good; whether the kernel does."""
    return filters.install(libc, lambda machine: program(machine, os.getpid(), flavour))


def program(machine: int, pid: int, flavour: str) -> bytes:
    """The filter: calls that are not listed are answered ENOSYS."""
    rules = filters.beginning(machine)
    looked_at = looks(flavour, pid)
    for name, numbers in FLAVOURS[flavour].items():
        body = [rule for conditions in looked_at.get(name, ()) for rule in conditions]
        rules += filters.on_call(numbers[machine], *body, filters.allow())
    return b"".join([*rules, filters.refuse(filters.ENOSYS)])
