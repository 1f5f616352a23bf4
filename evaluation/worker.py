"""The untrusted side: a process of one candidate, confined before its code is loaded.

    python -I -S worker.py '<json of Orders>'

Standard library only; run by path, never imported by the judge's other modules. It confines itself,
then hands over to harness.cpp, which serves calls until told to exit. Each layer is refused by some
kernels and containers; the others hold without it, and `regraph_confined` is told which do:

    namespaces  a user, network, IPC and host name of its own: no network, not even this machine's;
                nothing shared by System V objects or abstract sockets; no rights over other users
    privileges  no capabilities, no new privileges
    landlock    files: only system libraries and, for cuda, the GPU's device nodes and what its
                driver reads in /proc and /sys (and writes of its own threads) can be opened;
                nothing can be executed; no TCP (Linux 6.7), no signals to others and no abstract
                sockets (Linux 6.12)
    seccomp     fork, exec, sockets, signals to others, ptrace and other processes' memory and
                limits, System V objects, real-time priority, and every system call that creates,
                changes or removes a file
    rlimits     core dumps, file growth, CPU time and, for openmp, address space

The first three begin before the GPU's driver starts threads, which inherit them; seccomp begins
after the CUDA context exists, in all threads at once. The working directory is one that no longer
exists, so nothing can be made in it.

Not confined: the number of threads (they die with the process); device memory; the CPU affinity of
other processes of this user than the judge; process numbers are the machine's (no PID namespace:
the judge needs this very process). For cuda, whatever the driver's device nodes allow. Without
seccomp, sockets that have a path. Without landlock, files that this user may read can be read, and
for cuda be overwritten in place (the driver opens its nodes for reading and writing). On a machine
that is neither x86_64 nor aarch64, capabilities are kept and there is no seccomp.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import platform
import resource
import stat
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass

SECCOMP, LANDLOCK, NAMESPACES = 1, 2, 4
"""Bits of what holds, as `regraph_confined` is told."""

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
    "open_by_handle_at": (304, 265),
    "kcmp": (312, 272),
    "ioprio_set": (251, 30),
}
ABSENT = {"clone3": (435, 435), "openat2": (437, 437)}
"""Reported as not implemented, so that libc falls back to calls whose flags a filter can see."""
CHECKED = {
    "clone": (56, 220),
    "open": (2, None),
    "openat": (257, 56),
    "tgkill": (234, 131),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122),
}
SECCOMP_CALL = (317, 277)
CAPSET_CALL = (126, 91)
AUDIT_ARCH = (0xC000003E, 0xC00000B7)
X32_BIT = 0x40000000
CLONE_THREAD = 0x10000
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
CREATING = os.O_WRONLY | os.O_CREAT | os.O_TRUNC

NEW_USER, NEW_NETWORK, NEW_IPC, NEW_HOST_NAME = 0x10000000, 0x40000000, 0x08000000, 0x04000000
NEW_OTHERS = NEW_NETWORK | NEW_IPC | NEW_HOST_NAME
NAMESPACE_SETS = (NEW_USER | NEW_OTHERS, NEW_OTHERS, NEW_USER | NEW_NETWORK, NEW_NETWORK)
"""Tried in this order; the second is for root where user namespaces are forbidden."""

# The same numbers on every architecture.
CREATE_RULESET_CALL, ADD_RULE_CALL, RESTRICT_SELF_CALL = 444, 445, 446
READ_FILE, READ_FOLDER, WRITE_FILE, DEVICE_IOCTL = 1 << 2, 1 << 3, 1 << 1, 1 << 15
TRUNCATE = 1 << 14
FILE_RIGHTS = READ_FILE | WRITE_FILE | DEVICE_IOCTL
READ, READ_WRITE = READ_FILE | READ_FOLDER, FILE_RIGHTS | READ_FOLDER
RIGHTS_BY_ABI = (0x1FFF, 0x3FFF, 0x7FFF, 0x7FFF, 0xFFFF)
"""Rights over files that ABI 1, 2, ... knows: 2 added moving, 3 truncating, 5 ioctl of devices."""
TCP_SINCE, SCOPES_SINCE, QUIET_SINCE = 4, 6, 7
LIBRARIES = (
    *("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib"),
    *("/nix/store", "/gnu/store", "/etc/ld.so.cache"),
)
OPENMP_READS = (
    *("/dev/urandom", "/sys/devices/system", "/sys/kernel/mm/transparent_hugepage"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm/overcommit_memory"),
)
CUDA_READS = (
    *("/proc/self", "/proc/devices", "/proc/modules", "/proc/driver", "/proc/sys"),
    *("/sys", "/usr/share/nvidia"),
)
DRIVER_LIBRARIES = ("libcuda", "libnvidia", "libInterceptor", "libsanitizer", "libTreeLauncher")
"""Libraries whose folders a GPU's driver, runtime or sanitizer loads more from."""
KEPT_OPEN = 200
"""From here on: descriptors that keep the kernel from forgetting an inode in /proc and its rule."""

LOAD, JUMP_EQUAL, JUMP_SET, JUMP_AT_LEAST, RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000


@dataclass(frozen=True)
class Orders:
    """What the supervisor tells its worker; `memory` 0 means no limit on address space."""

    descriptor: int
    bytes: int
    harness: str
    entry: str
    parent: int
    directory: int
    memory: int
    cpu_seconds: int
    sandbox: bool
    cuda: bool
    landlock: bool = True
    namespaces: bool = True
    profiler: str = ""


def main(orders: Orders) -> None:
    """Confine this process, then serve the candidate until told to exit."""
    libc = ctypes.CDLL(None, use_errno=True)
    held = separate(libc) if orders.namespaces else 0
    libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    if orders.parent and os.getppid() != orders.parent:  # it died before the line above
        sys.exit(1)
    os.fchdir(orders.directory)
    os.close(orders.directory)
    harness = ctypes.CDLL(orders.harness)
    if orders.profiler and harness.regraph_profiled(orders.profiler.encode()):
        sys.exit("harness: cannot load the profiler")
    if orders.sandbox:
        drop_privileges(libc)
    if orders.landlock:
        held |= close_files(libc, orders.cuda)
    opened = harness.regraph_open(orders.descriptor, ctypes.c_uint64(orders.bytes))
    if opened:
        sys.exit(f"harness: cannot open the arena or device (step {opened})")
    limit(orders)
    if orders.sandbox:
        held |= confine(libc, CREATING if orders.cuda else WRITING)
    harness.regraph_confined(ctypes.c_uint64(held))
    harness.regraph_serve(orders.entry.encode())


def separate(libc: ctypes.CDLL) -> int:
    """Leave the machine's network, IPC objects and host name; only while there is one thread."""
    return NAMESPACES if any(libc.unshare(flags) == 0 for flags in NAMESPACE_SETS) else 0


def drop_privileges(libc: ctypes.CDLL) -> None:
    """Give up all capabilities, and the gaining of any by running a file."""
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    machine = architecture()
    if machine is not None:
        libc.syscall(CAPSET_CALL[machine], struct.pack("<Ii", 0x20080522, 0), bytes(24))


def close_files(libc: ctypes.CDLL, cuda: bool) -> int:
    """Refuse to open any file but those of `openable`, by landlock, as far as the kernel has it."""
    abi = libc.syscall(CREATE_RULESET_CALL, None, 0, 1)
    if abi < 1:
        return 0
    handled = RIGHTS_BY_ABI[min(abi, len(RIGHTS_BY_ABI)) - 1]
    tcp, scopes = 3 * (abi >= TCP_SINCE), 3 * (abi >= SCOPES_SINCE)
    ruleset = libc.syscall(CREATE_RULESET_CALL, struct.pack("<QQQ", handled, tcp, scopes), 24, 0)
    if ruleset < 0:
        return 0
    for path, rights in openable(cuda):
        descriptor = permit(libc, ruleset, path, rights & handled)
        if descriptor is not None and path.startswith("/proc"):
            fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, KEPT_OPEN)
        if descriptor is not None:
            os.close(descriptor)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)  # landlock asks for it
    restricted = libc.syscall(RESTRICT_SELF_CALL, ruleset, int(abi >= QUIET_SINCE))
    os.close(ruleset)
    return LANDLOCK if restricted == 0 else 0


def permit(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> int | None:
    """Add a rule; the open path, or None where this machine has none."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        rights &= FILE_RIGHTS
    libc.syscall(ADD_RULE_CALL, ruleset, 1, struct.pack("<Qi", rights, descriptor), 0)
    return descriptor


def openable(cuda: bool) -> Iterator[tuple[str, int]]:
    """Paths that a loaded candidate may open, with all below them, and how."""
    given = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    folders = [path for path in given if path.startswith("/")]
    yield from (("/dev/null", READ_WRITE), ("/dev/zero", READ_WRITE))
    for path in (*LIBRARIES, *folders, *OPENMP_READS):
        yield path, READ
    if not cuda:
        return
    with contextlib.suppress(OSError):  # a pretended GPU has no driver
        ctypes.CDLL("libcuda.so.1")
    for path in (*CUDA_READS, *driver_folders()):
        yield path, READ
    # The driver names its threads, or makes no context.
    yield "/proc/self/task", READ_WRITE | TRUNCATE
    for name in os.listdir("/dev"):
        if name.startswith("nvidia") or name == "dxg":
            yield f"/dev/{name}", READ_WRITE


def driver_folders() -> set[str]:
    """Folders of the GPU driver's and runtime's libraries that are loaded."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = {line.split(maxsplit=5)[-1].strip() for line in maps if "/" in line}
    return {
        os.path.dirname(path)
        for path in paths
        if os.path.basename(path).startswith(DRIVER_LIBRARIES)
    }


def architecture() -> int | None:
    """Column of the tables of system calls; None where there is none for this machine."""
    return {"x86_64": 0, "aarch64": 1}.get(platform.machine())


def limit(orders: Orders) -> None:
    """Set the rlimits. File growth is forbidden: shared memory is a file already grown."""
    # 1, not 0: a program that the kernel hands core dumps to is left alone as well (core(5)).
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (orders.cpu_seconds, orders.cpu_seconds))
    if orders.memory:
        resource.setrlimit(resource.RLIMIT_AS, (orders.memory, orders.memory))


def confine(libc: ctypes.CDLL, denied_open_flags: int) -> int:
    """Refuse the system calls above, in every thread, for good."""
    machine = architecture()
    if machine is None:
        return 0
    code = program(machine, os.getpid(), denied_open_flags)
    buffer = ctypes.create_string_buffer(code)
    length = len(code) // 8
    filter_ = struct.pack("@HP", length, ctypes.addressof(buffer))
    every_thread = 1
    refused = libc.syscall(SECCOMP_CALL[machine], 1, every_thread, filter_)
    if refused:
        refused = libc.prctl(PR_SET_SECCOMP, 2, filter_, 0, 0)
    return 0 if refused else SECCOMP


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
    own = [jump(JUMP_EQUAL, 0, 2, 0), jump(JUMP_EQUAL, pid, 1, 0), refuse(EPERM)]
    rules += when(machine, "prlimit64", 0, own)
    others = [jump(JUMP_EQUAL, os.getppid(), 0, 1), refuse(EPERM)]
    rules += when(machine, "sched_setaffinity", 0, others)
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
