"""Runs the compilers and linkers of one compilation where they find nothing but themselves.

Standard library only, and few modules: each costs milliseconds. The judge never imports this file,
but starts a Python that does (sandboxed.py). A source can name any file, in more spellings than a
rule can know; here those files do not exist. Each layer (namespaces, a root folder of its own,
landlock, seccomp, limits) is refused by some kernels and containers, the others hold without it.

Without root, a source can still ask whether a file exists (`__has_include`), not what it holds.
With neither root nor landlock the files that this user may read can be read. As root the number
of processes is not limited. On a machine that is neither x86_64 nor aarch64 there is no seccomp.
"""

import ctypes
import marshal
import os
import resource
import sys

from . import filters, landlock, own_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from types import FrameType
    from typing import NoReturn
else:
    import _signal as signal  # without enum, which takes as long as all else here


class CompileOrders:
    """The judge's orders. Paths are absolute; all but `folder` are read-only."""

    commands: list[list[str]]  # run in turn until one fails; each begins with a path
    folder: str  # the folder they run in, the only place they can write to; "": none
    readable: list[str]  # the toolchain: files and folders; those that do not exist are left out
    layers: list[str]
    strict: bool  # whether to run nothing where neither a root of its own nor landlock holds
    environment: dict[str, str]
    parent: int
    own: str  # the judge's folder for this, removed should the judge die meanwhile; "": none
    report: int
    """Descriptor that gets, marshalled, which layers held, which command was the last, its exit
    code (negative: its signal). The commands do not inherit it."""
    cpu_seconds: int
    memory_bytes: int
    file_bytes: int

    def __init__(self, **fields: object) -> None:
        self.__dict__.update(fields)


PR_SET_PDEATHSIG = 1
NEW_OTHERS = own_root.NEW_MOUNTS | 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000
"""Mounts, processes, network, IPC, host name."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
PROCESSES, CPU_GRACE_SECONDS, COUNTED_APART = 256, 5, (5, 14)
"""Kernels since the last count the processes of a user namespace apart from the user's others."""
NAMESPACE_FLAGS = 0x7E020080
CLONE_CALL = (56, 220)
DENIED = filters.numbers(
    """
    socket 41 198, socketpair 53 199, io_uring_setup 425 425, kill 62 129, tkill 200 130,
    rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240, pidfd_open 434 434, pidfd_getfd 438 438,
    pidfd_send_signal 424 424, ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271,
    kcmp 312 272, setsid 112 157, setpgid 109 154, mount 165 40, umount2 166 39,
    mount_setattr 442 442, move_mount 429 429, open_tree 428 428, fsopen 430 430, fsmount 432 432,
    chroot 161 51, pivot_root 155 41, unshare 272 97, setns 308 268, mknod 133 -, mknodat 259 33,
    open_by_handle_at 304 265, bpf 321 280, perf_event_open 298 241, userfaultfd 323 282,
    add_key 248 217, request_key 249 218, keyctl 250 219, shmget 29 194, msgget 68 186,
    semget 64 190, mq_open 240 180, setpriority 141 140, sched_setscheduler 144 119,
    sched_setattr 314 274, sched_setaffinity 203 122, clock_settime 227 112, settimeofday 164 170,
    reboot 169 142, init_module 175 105, finit_module 313 273, kexec_load 246 104,
    inotify_init1 294 26, fanotify_init 300 262
    """
)
ALONE = frozenset({"kill", "tkill", "setpgid", "setsid"})
"""Let through where a process sees no others: signals harm nobody then, and whoever leaves its
group, as ninja's children do, ends with the first process all the same."""
PRLIMIT_CALL = (302, 261)
"""Refused for any process but the caller's own: the limits of the one that watches are its life."""
CLONE3_CALL = (435, 435)
"""Reported as not implemented, so that libc falls back to clone, whose flags a filter can see."""


def main(orders: CompileOrders) -> None:
    """Confine what follows, run the commands in a first process of their own, report."""
    os.set_inheritable(orders.report, False)
    libc = ctypes.CDLL(None, use_errno=True)
    layers = ["namespaces"] if "namespaces" in orders.layers and separate(libc) else []
    die_with_parent(libc)  # other credentials would have made that forgotten
    if os.getppid() != orders.parent:  # it died before the line above
        sys.exit(1)
    # held open, as this process will not see the folder from its new root
    above = os.open(os.path.dirname(orders.own), os.O_RDONLY) if orders.own else -1
    child = os.fork()
    if child:
        if orders.own:
            name = os.path.basename(orders.own)
            signal.signal(signal.SIGTERM, lambda *_: abandoned(child, name, above))
        os._exit(abs(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
    die_with_parent(libc)
    layers += confine(libc, orders, bool(layers))
    if orders.strict and not {"root", "landlock"} & {*layers}:
        os.write(2, b"neither a root folder of its own nor landlock holds here")
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # which the first process of a namespace ignores
    report(orders, layers, (0, -signal.SIGKILL))  # it stays where a command ends this process
    report(orders, layers, run(libc, orders))
    os._exit(0)


def report(orders: CompileOrders, layers: list[str], went: tuple[int, int]) -> None:
    """Replace the report to the judge: layers that hold, and the commands' result."""
    message = {"held": layers, "index": went[0], "code": went[1]}
    os.pwrite(orders.report, marshal.dumps(message), 0)


def die_with_parent(libc: ctypes.CDLL) -> None:
    """End the whole process group when the parent ends, also what others have started in it."""
    signal.signal(signal.SIGTERM, _end_group)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _end_group(number: int, frame: "FrameType | None") -> "NoReturn":
    del number, frame
    os.kill(0, signal.SIGKILL)
    os._exit(1)  # the first process of a namespace cannot kill itself


def abandoned(child: int, name: str, above: int) -> "NoReturn":
    """The judge has died: end all of this, then remove the folder that it made for it."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # one comes for each thread of the judge
    try:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        remove(name, above)
    finally:
        _end_group(0, None)  # also where a compiler that no namespace ended still writes there


def remove(name: str, above: int) -> None:
    """Remove what bears this name in an open folder (shutil takes longer to import than it is)."""
    try:
        os.unlink(name, dir_fd=above)
    except OSError:  # a folder
        here = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
        for entry in os.listdir(here):
            remove(entry, here)
        os.close(here)
        os.rmdir(name, dir_fd=above)


def separate(libc: ctypes.CDLL) -> bool:
    """Own namespaces for what is forked from now on; root does without one of users."""
    user, group = os.geteuid(), os.getegid()
    if user == 0 and libc.unshare(NEW_OTHERS) == 0:
        return True
    if libc.unshare(own_root.NEW_USER | NEW_OTHERS):
        return False
    own_root.be_known(user, group)  # else the new root will not succeed, and not be reported
    major, minor = os.uname().release.split(".")[:2]
    if (int(major), int(minor)) >= COUNTED_APART:
        resource.setrlimit(resource.RLIMIT_NPROC, (PROCESSES, PROCESSES))
    return True


def confine(libc: ctypes.CDLL, orders: CompileOrders, apart: bool) -> list[str]:
    """Apply the requested layers except namespaces; return those that hold."""
    requested, active = orders.layers, []
    if "root" in requested and apart:
        shown = [*orders.readable, *DEVICES]
        if own_root.change(libc, shown, orders.folder):
            active.append("root")
    os.chdir(orders.folder or "/")
    if requested:
        filters.drop_privileges(libc)
    if "landlock" in requested and landlock.restrict(libc, openable(orders)):
        active.append("landlock")
    limit(orders)
    if "seccomp" in requested and filters.install(libc, lambda at: program(at, apart)):
        active.append("seccomp")
    return active


def openable(orders: CompileOrders) -> list[tuple[str, int]]:
    """Paths that landlock lets be opened, with their rights."""
    reading = landlock.READ_FILE | landlock.READ_FOLDER | landlock.EXECUTE
    writing = landlock.READ_FILE | landlock.WRITE_FILE | landlock.TRUNCATE
    return [
        *((path, reading) for path in orders.readable),
        *((path, writing) for path in DEVICES),
        *((path, landlock.ALL_RIGHTS) for path in [orders.folder] if path),
    ]


def program(machine: int, apart: bool) -> bytes:
    """The filter of system calls: those that are not named above are let through."""
    # `apart`: a process sees no others but its own, and ends with the first of them
    allowed = ALONE if apart else frozenset()
    rules = filters.beginning(machine)
    for name, numbers in DENIED.items():
        if name not in allowed:
            rules += filters.on_call(numbers[machine], filters.refuse(filters.EPERM))
    rules += filters.on_call(CLONE3_CALL[machine], filters.refuse(filters.ENOSYS))
    is_own = filters.require(filters.low(0), ((0xFFFFFFFF, 0),))
    rules += filters.on_call(PRLIMIT_CALL[machine], *is_own, filters.allow())
    clone = (*filters.without(0, NAMESPACE_FLAGS), filters.allow())
    rules += filters.on_call(CLONE_CALL[machine], *clone)
    return b"".join([*rules, filters.allow()])


def limit(orders: CompileOrders) -> None:
    """Limits of each process. The one on CPU time ends a compiler whose judge was killed."""
    seconds, memory, size = orders.cpu_seconds, orders.memory_bytes, orders.file_bytes
    # 1, not 0: a program that the kernel hands core dumps to is left alone as well (core(5)).
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + CPU_GRACE_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def run(libc: ctypes.CDLL, orders: CompileOrders) -> tuple[int, int]:
    """The commands in turn: which was the last, its exit code."""
    for index, command in enumerate(orders.commands):
        child = os.fork()
        if child == 0:
            become(libc, command, orders.environment)
        code = waited(child)
        if code:
            return index, code
    return len(orders.commands) - 1, 0


def become(libc: ctypes.CDLL, command: list[str], environment: dict[str, str]) -> "NoReturn":
    """Become a command. A file that grows too large is an error that it can report."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    try:
        os.execve(command[0], command, environment)
    except OSError as error:
        os.write(2, f"{command[0]}: does not start: {error.strerror}\n".encode())
    os._exit(127)


def waited(child: int) -> int:
    """Exit code of a child; the first process of a namespace is also left those of others."""
    while True:
        ended, status = os.wait()
        if ended == child:
            return os.waitstatus_to_exitcode(status)


def start(orders: str) -> None:
    """Entry point of the process that the judge starts."""
    main(CompileOrders(**marshal.loads(bytes.fromhex(orders))))
