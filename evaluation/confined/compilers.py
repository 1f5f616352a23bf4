"""Runs the compilers and linkers of one compilation where they find nothing but themselves.

    start(<marshalled Orders, in hex>)

Standard library only, and few modules: each costs milliseconds. The judge never imports this file,
but starts a Python that does (sandboxed.py). A source can name any file, in more spellings than a
rule can know; here those files do not exist. Each layer is refused by some kernels and containers,
the others hold without it:

    namespaces  processes, network and IPC of its own: everything ends with its first process
    root        a root folder of its own: the toolchain read-only, the job's folder, three devices;
                no /home, of /proc only cpuinfo, no other file of this machine
    landlock    the same list again, for the case that the kernel refuses the above
    seccomp     sockets, signals, ptrace, other namespaces, mounts, keys, io_uring and the like
    limits      CPU time, address space and size of files; in a user namespace also processes

Without root, a source can still ask whether a file exists (`__has_include`), not what it holds.
With neither root nor landlock the files that this user may read can be read. As root the number
of processes is not limited. On a machine that is neither x86_64 nor aarch64 there is no seccomp.
"""

import ctypes
import marshal
import os
import resource
import struct
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from types import FrameType
    from typing import NoReturn

    from regraph_kg.evaluation.confined import filters, landlock, refused
else:
    import _signal as signal  # without enum, which takes as long as all else here

    sys.path.append(os.path.dirname(os.path.realpath(__file__)))
    import filters
    import landlock
    import refused

    sys.path.pop()


class CompileOrders:
    """The judge's orders. Paths are absolute; all but `folder` and `top` are read-only."""

    commands: list[list[str]]  # run in turn until one fails; each begins with a path
    folder: str  # the folder they run in, the only place they can write to
    top: str  # an empty folder outside of it, over which the new root is mounted
    readable: list[str]  # the toolchain: files and folders; those that do not exist are left out
    layers: list[str]
    strict: bool  # whether to run nothing where neither a root of its own nor landlock holds
    environment: dict[str, str]
    parent: int
    report: int
    """Descriptor that gets, marshalled, which layers held, which command was the last, its exit
    code (negative: its signal) and its seconds. The commands do not inherit it."""
    cpu_seconds: int
    memory_bytes: int
    file_bytes: int

    def __init__(self, **fields: object) -> None:
        self.__dict__.update(fields)


PR_SET_PDEATHSIG = 1
NEW_MOUNTS, NEW_USER, NEW_PROCESSES = 0x00020000, 0x10000000, 0x20000000
NEW_OTHERS = NEW_MOUNTS | NEW_PROCESSES | 0x40000000 | 0x08000000 | 0x04000000
"""Mounts, processes, network, IPC, host name."""
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND = 1, 2, 4, 32, 4096
MS_REC, MS_PRIVATE, MS_RELATIME, MNT_DETACH = 1 << 14, 1 << 18, 1 << 21, 2
MOUNT_FLAGS, ST_RELATIME = 0xC0F, 4096
"""Flags that statvfs and mount number alike: ro, nosuid, nodev, noexec, noatime, nodiratime."""
MOUNT_SETATTR_CALL, AT_RECURSIVE, AT_FDCWD = 442, 0x8000, -100
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
PROCESSES, CPU_GRACE_SECONDS, COUNTED_APART = 256, 5, (5, 14)
"""Kernels since the last count the processes of a user namespace apart from the user's others."""

PIVOT_ROOT_CALL = (155, 41)


def main(orders: CompileOrders) -> None:
    """Confine what follows, run the commands in a first process of their own, report."""
    os.set_inheritable(orders.report, False)
    libc = ctypes.CDLL(None, use_errno=True)
    layers = ["namespaces"] if "namespaces" in orders.layers and separate(libc) else []
    die_with_parent(libc)  # other credentials would have made that forgotten
    if os.getppid() != orders.parent:  # it died before the line above
        sys.exit(1)
    child = os.fork()
    if child:
        os._exit(abs(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
    die_with_parent(libc)
    layers += confine(libc, orders, bool(layers))
    if orders.strict and not {"root", "landlock"} & {*layers}:
        os.write(2, b"neither a root folder of its own nor landlock holds here")
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # which the first process of a namespace ignores
    report(orders, layers, (0, -signal.SIGKILL, 0.0))  # it stays where a command ends this process
    report(orders, layers, run(libc, orders))
    os._exit(0)


def report(orders: CompileOrders, layers: list[str], went: tuple[int, int, float]) -> None:
    """Replace the report to the judge: layers that hold, and the commands' result."""
    index, code, seconds = went
    message = {"held": layers, "code": code, "index": index, "seconds": seconds}
    os.pwrite(orders.report, marshal.dumps(message), 0)


def die_with_parent(libc: ctypes.CDLL) -> None:
    """End the whole process group when the parent ends, also what others have started in it."""
    signal.signal(signal.SIGTERM, _end_group)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _end_group(number: int, frame: "FrameType | None") -> "NoReturn":
    del number, frame
    os.kill(0, signal.SIGKILL)
    os._exit(1)  # the first process of a namespace cannot kill itself


def separate(libc: ctypes.CDLL) -> bool:
    """Own namespaces for what is forked from now on; root does without one of users."""
    user, group = os.geteuid(), os.getegid()
    if user == 0 and libc.unshare(NEW_OTHERS) == 0:
        return True
    if libc.unshare(NEW_USER | NEW_OTHERS):
        return False
    try:
        write("/proc/self/setgroups", "deny")
        write("/proc/self/uid_map", f"{user} {user} 1")
        write("/proc/self/gid_map", f"{group} {group} 1")
    except OSError:
        pass  # the new root will not succeed, and not be reported
    major, minor = os.uname().release.split(".")[:2]
    if (int(major), int(minor)) >= COUNTED_APART:
        resource.setrlimit(resource.RLIMIT_NPROC, (PROCESSES, PROCESSES))
    return True


def write(path: str, text: str) -> None:
    """Replace a file of the kernel."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def confine(libc: ctypes.CDLL, orders: CompileOrders, apart: bool) -> list[str]:
    """Apply the requested layers except namespaces; return those that hold."""
    requested, active = orders.layers, []
    if "root" in requested and apart and own_root(libc, orders):
        active.append("root")
    os.chdir(orders.folder)
    if requested:
        filters.drop_privileges(libc)
    if "landlock" in requested and landlock.restrict(libc, openable(orders)):
        active.append("landlock")
    limit(orders)
    if "seccomp" in requested and refused.filter_calls(libc, filters.architecture(), apart):
        active.append("seccomp")
    return active


def own_root(libc: ctypes.CDLL, orders: CompileOrders) -> bool:
    """Change to a root folder that holds the toolchain, the job's folder and three devices."""
    top = orders.top
    try:
        mount(libc, None, "/", None, MS_REC | MS_PRIVATE)
        mount(libc, "none", top, "tmpfs", MS_NOSUID | MS_NODEV, b"size=1m,mode=755")
        for path in topmost(orders.readable):
            if os.path.islink(path) and not os.path.isdir(path):
                os.makedirs(os.path.dirname(top + path), exist_ok=True)
                os.symlink(os.readlink(path), top + path)  # a program may look beside its target
                continue
            bind(libc, path, top)
            protect(libc, top + path)
        for path in DEVICES:
            bind(libc, path, top)  # root could change their rights and times, for everybody
            protect(libc, top + path, devices=True)
        bind(libc, orders.folder, top)
        mount(libc, None, top, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)
        enter(libc, top)
    except OSError:
        return False
    return True


def topmost(paths: list[str]) -> list[str]:
    """The existing paths that lie in no other of them."""
    roots: list[str] = []
    for path in sorted({os.path.normpath(path) for path in paths}):
        if os.path.exists(path) and not any(path.startswith(f"{root}/") for root in roots):
            roots.append(path)
    return roots


def bind(libc: ctypes.CDLL, path: str, top: str) -> None:
    """Show a file or folder, and all that is mounted below it, at the same path under `top`."""
    target = top + path
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    mount(libc, path, target, None, MS_BIND | MS_REC)


def protect(libc: ctypes.CDLL, target: str, *, devices: bool = False) -> None:
    """Make a mount read-only, with all mounts below it where the kernel can (Linux 5.12).

    `devices`: they can still be opened, and written to.
    """
    restrictions = MS_RDONLY | MS_NOSUID | (0 if devices else MS_NODEV)
    attributes = struct.pack("<QQQQ", restrictions, 0, 0, 0)
    path = os.fsencode(target)
    if libc.syscall(MOUNT_SETATTR_CALL, AT_FDCWD, path, AT_RECURSIVE, attributes, 32) == 0:
        return
    flags = os.statvfs(target).f_flag
    inherited = (flags & MOUNT_FLAGS) | (MS_RELATIME if flags & ST_RELATIME else 0)
    mount(libc, None, target, None, inherited | MS_REMOUNT | MS_BIND | restrictions)


def enter(libc: ctypes.CDLL, top: str) -> None:
    """Make `top` the root and forget the old one."""
    os.chdir(top)
    column = filters.architecture()
    if column is None or libc.syscall(PIVOT_ROOT_CALL[column], b".", b"."):
        os.chroot(".")  # a root in memory (initramfs) cannot be exchanged
    elif libc.umount2(b".", MNT_DETACH):
        raise OSError(ctypes.get_errno(), "umount2")
    os.chdir("/")


def mount(
    libc: ctypes.CDLL,
    source: str | None,
    target: str,
    kind: str | None,
    flags: int,
    options: bytes | None = None,
) -> None:
    """The system call. Raises `OSError`."""
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    if libc.mount(*texts, ctypes.c_ulong(flags), options):
        raise OSError(ctypes.get_errno(), "mount", target)


def openable(orders: CompileOrders) -> list[tuple[str, int]]:
    """Paths that landlock lets be opened, with their rights."""
    reading = landlock.READ_FILE | landlock.READ_FOLDER | landlock.EXECUTE
    writing = landlock.READ_FILE | landlock.WRITE_FILE | landlock.TRUNCATE
    return [
        *((path, reading) for path in orders.readable),
        *((path, writing) for path in DEVICES),
        (orders.folder, landlock.ALL_RIGHTS),
    ]


def limit(orders: CompileOrders) -> None:
    """Limits of each process. The one on CPU time ends a compiler whose judge was killed."""
    seconds, memory, size = orders.cpu_seconds, orders.memory_bytes, orders.file_bytes
    # 1, not 0: a program that the kernel hands core dumps to is left alone as well (core(5)).
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + CPU_GRACE_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def run(libc: ctypes.CDLL, orders: CompileOrders) -> tuple[int, int, float]:
    """The commands in turn: which was the last, its exit code, how long it took."""
    seconds = 0.0
    for index, command in enumerate(orders.commands):
        start = time.monotonic()
        child = os.fork()
        if child == 0:
            become(libc, command, orders.environment)
        code = waited(child)
        seconds = time.monotonic() - start
        if code:
            return index, code, seconds
    return len(orders.commands) - 1, 0, seconds


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
