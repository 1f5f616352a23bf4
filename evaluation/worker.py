"""The untrusted side: a process of one candidate, confined before its code is loaded.

    python -I -S worker.py '<json of Orders>'

Standard library only; run by path, never imported by the judge's other modules. It confines itself,
then hands over to harness.cpp, which serves calls until told to exit. What is confined:
fork, exec, sockets, signals to others, ptrace and other processes' memory, System V objects,
real-time priority, and every system call that creates, changes or removes a file (seccomp; no
capabilities; no new privileges); core dumps, file growth, CPU time and, for openmp, address space
(rlimits); the working directory is one that no longer exists, so nothing can be made in it.

Not confined: reading files that this user may read; the number of threads (they die with the
process); for cuda, writing without growing files opened for reading and writing (the driver needs
this for its device nodes). On a kernel without seccomp, or neither x86_64 nor aarch64, none of the
system calls is refused: then only process group, rlimits and deadline hold.
"""

import ctypes
import json
import os
import platform
import resource
import struct
import sys
from dataclasses import dataclass

PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 22, 38
SIGKILL = 9
EPERM, ENOSYS = 1, 38

# name: (x86_64, aarch64); None where the architecture has no such call.
DENIED: dict[str, tuple[int | None, int | None]] = {
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "kill": (62, 129),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "io_uring_setup": (425, 425),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    "creat": (85, None),
    "truncate": (76, 45),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "link": (86, None),
    "linkat": (265, 37),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "mount": (165, 40),
    "umount2": (166, 39),
    "chroot": (161, 51),
    "pivot_root": (155, 41),
    "unshare": (272, 97),
    "setns": (308, 268),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    "setpriority": (141, 140),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "reboot": (169, 142),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "kexec_load": (246, 104),
}
ABSENT = {"clone3": (435, 435), "openat2": (437, 437)}
"""Reported as not implemented, so that libc falls back to calls whose flags a filter can see."""
CHECKED = {
    "clone": (56, 220),
    "open": (2, None),
    "openat": (257, 56),
    "tgkill": (234, 131),
    "prctl": (157, 167),
}
SECCOMP_CALL = (317, 277)
CAPSET_CALL = (126, 91)
AUDIT_ARCH = (0xC000003E, 0xC00000B7)
X32_BIT = 0x40000000
CLONE_THREAD = 0x10000
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
CREATING = os.O_WRONLY | os.O_CREAT | os.O_TRUNC

LOAD, JUMP_EQUAL, JUMP_SET, JUMP_AT_LEAST, RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000


@dataclass(frozen=True)
class Orders:
    """What the supervisor tells its worker; `memory` 0 means no limit on address space."""

    descriptor: int
    bytes: int
    harness: str
    candidate: str
    entry: str
    parent: int
    directory: str
    memory: int
    cpu_seconds: int
    sandbox: bool
    cuda: bool


def main(orders: Orders) -> None:
    """Confine this process, then serve the candidate until told to exit."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    if os.getppid() != orders.parent:  # it died before the line above
        sys.exit(1)
    os.chdir(orders.directory)
    os.rmdir(orders.directory)
    harness = ctypes.CDLL(orders.harness)
    opened = harness.regraph_open(orders.descriptor, ctypes.c_uint64(orders.bytes))
    if opened:
        sys.exit(f"harness: cannot open the arena or device (step {opened})")
    limit(orders)
    if orders.sandbox:
        confine(libc, CREATING if orders.cuda else WRITING)
    harness.regraph_serve(orders.candidate.encode(), orders.entry.encode())


def limit(orders: Orders) -> None:
    """Set the rlimits. File growth is forbidden: shared memory is a file already grown."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (orders.cpu_seconds, orders.cpu_seconds))
    if orders.memory:
        resource.setrlimit(resource.RLIMIT_AS, (orders.memory, orders.memory))


def confine(libc: ctypes.CDLL, denied_open_flags: int) -> None:
    """Drop capabilities and refuse the system calls above, in every thread, for good."""
    machine = {"x86_64": 0, "aarch64": 1}.get(platform.machine())
    if machine is None:
        return
    header = struct.pack("<Ii", 0x20080522, 0)
    libc.syscall(CAPSET_CALL[machine], header, bytes(24))
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    code = program(machine, os.getpid(), denied_open_flags)
    buffer = ctypes.create_string_buffer(code)
    length = len(code) // 8
    filter_ = struct.pack("@HP", length, ctypes.addressof(buffer))
    every_thread = 1
    if libc.syscall(SECCOMP_CALL[machine], 1, every_thread, filter_):
        libc.prctl(PR_SET_SECCOMP, 2, filter_, 0, 0)


def program(machine: int, pid: int, denied_open_flags: int) -> bytes:
    """The filter: classic BPF over seccomp_data (nr, arch, instruction pointer, six arguments)."""
    rules = [load(4), jump(JUMP_EQUAL, AUDIT_ARCH[machine], 1, 0), refuse(EPERM), load(0)]
    if machine == 0:
        rules += [jump(JUMP_AT_LEAST, X32_BIT, 0, 1), refuse(ENOSYS)]
    for call in DENIED.values():
        number = call[machine]
        if number is not None:
            rules += [jump(JUMP_EQUAL, number, 0, 1), refuse(EPERM)]
    for call in ABSENT.values():
        rules += [jump(JUMP_EQUAL, call[machine], 0, 1), refuse(ENOSYS)]
    rules += when(machine, "clone", 0, [jump(JUMP_SET, CLONE_THREAD, 1, 0), refuse(EPERM)])
    opening = [jump(JUMP_SET, denied_open_flags, 0, 1), refuse(EPERM)]
    rules += when(machine, "open", 1, opening) + when(machine, "openat", 2, opening)
    rules += when(machine, "tgkill", 0, [jump(JUMP_EQUAL, pid, 1, 0), refuse(EPERM)])
    stay = [jump(JUMP_EQUAL, PR_SET_PDEATHSIG, 0, 1), refuse(EPERM)]
    rules += when(machine, "prctl", 0, stay)
    return b"".join([*rules, allow()])


def when(machine: int, name: str, argument: int, then: list[bytes]) -> list[bytes]:
    """Rules on one argument (its low word) of one call; whatever they let through is allowed."""
    number = CHECKED[name][machine]
    if number is None:
        return []
    body = [load(16 + 8 * argument), *then, allow()]
    return [jump(JUMP_EQUAL, number, 0, len(body)), *body]


def load(offset: int) -> bytes:
    """Load a 32-bit word of seccomp_data."""
    return struct.pack("<HBBI", LOAD, 0, 0, offset)


def jump(test: int, value: int, true: int, false: int) -> bytes:
    """Skip `true` or `false` instructions after comparing the loaded word with `value`."""
    return struct.pack("<HBBI", test, true, false, value)


def refuse(errno: int) -> bytes:
    """Fail the call with `errno`."""
    return struct.pack("<HBBI", RETURN, 0, 0, REFUSE | errno)


def allow() -> bytes:
    """Let the call through."""
    return struct.pack("<HBBI", RETURN, 0, 0, ALLOW)


if __name__ == "__main__":
    main(Orders(**json.loads(sys.argv[1])))
