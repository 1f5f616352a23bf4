"""The filter lets through what is listed, for both architectures, and nothing else."""

import ctypes
import os
from collections.abc import Iterable

import pytest

from regraph_kg.evaluation.confined import calls, compilers, filters, seccomp
from tests.requirement import require

from .bpf import ALLOWED, answer
from .collect_calls import collected

PID = 4711
EPERM, ENOTTY, ENOSYS = 1, 25, 38
MACHINES = {"x86_64": 0, "aarch64": 1}
EVERY_CALL = range(1024)
NULL, POINTER = 0, 0x7F0000000000
FIOASYNC, FIONBIO, TIOCSTI, FIOSETOWN, SETFLAGS = 0x5452, 0x5421, 0x5412, 0x8901, 0x40086602
F_SETFL, F_SETLK, F_SETOWN, F_SETSIG, F_SETLEASE, F_NOTIFY = 4, 6, 8, 10, 1024, 1026
THREAD = 0x3D0F00
HARMFUL = """
acct add_key adjtimex alarm bpf capset chmod chown chroot clone3 copy_file_range creat epoll_pwait2
execve execveat fadvise64 fallocate fanotify_init fchmod fchmodat fchmodat2 fchown fchownat flock
fork fremovexattr fsetxattr ftruncate futimesat getxattr init_module inotify_add_watch inotify_init
inotify_init1 io_setup io_submit io_uring_setup ioprio_set kcmp keyctl kill lchown link linkat
lremovexattr lsetxattr mkdir mkdirat mknod mknodat mount mq_notify mq_open msgget name_to_handle_at
open_by_handle_at openat2 perf_event_open personality pidfd_getfd pidfd_open pidfd_send_signal
pivot_root process_madvise process_vm_readv process_vm_writev ptrace quotactl reboot removexattr
rename renameat renameat2 request_key rmdir rt_sigqueueinfo rt_tgsigqueueinfo sched_setattr
sched_setparam sched_setscheduler seccomp semget sendfile setdomainname setfsuid setgid sethostname
setitimer setns setpgid setpriority setregid setresuid setreuid setrlimit setsid settimeofday
setuid setxattr shmat shmget signalfd signalfd4 socket socketpair splice swapon symlink symlinkat
syslog tee timer_create timer_settime timerfd_create timerfd_settime tkill truncate umount2 unlink
unlinkat unshare userfaultfd utime utimensat utimes vfork vhangup vmsplice
"""


def filter_of(flavour: str, machine: int) -> bytes:
    return seccomp.program(machine, PID, flavour)


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> int:
    return MACHINES[request.param]


@pytest.fixture(params=calls.FLAVOURS)
def flavour(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_no_call_is_answered_but_those_listed(machine: int, flavour: str) -> None:
    code = filter_of(flavour, machine)
    listed = {numbers[machine] for numbers in calls.FLAVOURS[flavour].values()} - {None}
    answers = {call: answer(code, machine, call) for call in EVERY_CALL}
    assert {call for call, said in answers.items() if said != ENOSYS} == listed


def test_none_of_what_did_harm_is_listed(flavour: str) -> None:
    assert not calls.FLAVOURS[flavour].keys() & set(HARMFUL.split())


def test_numbers_are_given_once(machine: int) -> None:
    numbers = [number[machine] for number in calls.FLAVOURS["cuda under a tool"].values()]
    known = [number for number in numbers if number is not None]
    assert len(known) == len(set(known))


@pytest.mark.parametrize("call", [0x40000000, 0x40000001, 0x40000000 + 520, 0xFFFFFFFF])
def test_calls_of_x32_do_not_exist(flavour: str, call: int) -> None:
    assert answer(filter_of(flavour, 0), 0, call) == ENOSYS


def test_calls_of_another_architecture_do_not_exist(flavour: str) -> None:
    code = filter_of(flavour, 0)
    assert {answer(code, 1, call) for call in EVERY_CALL} == {ENOSYS}


def test_a_filter_is_short_enough_for_the_kernel(machine: int, flavour: str) -> None:
    assert len(filter_of(flavour, machine)) // 8 <= 4096


def said(flavour: str, machine: int, name: str, *arguments: int) -> int:
    number = calls.FLAVOURS[flavour][name][machine]
    assert number is not None
    return answer(filter_of(flavour, machine), machine, number, arguments)


def fcntl_of(commands: Iterable[int], *arguments: int) -> list[tuple[int, ...]]:
    return [(1, command, *arguments) for command in commands]


EVERYWHERE: dict[str, tuple[list[tuple[int, ...]], list[tuple[int, ...]]]] = {
    "clone": (
        [(THREAD,), (THREAD | 0x400000,)],
        [(17,), (0x4111,), (THREAD | 0x4000,), (THREAD | 0x10000000,), (THREAD & ~0x10000,)],
    ),
    "openat": (
        [(0, POINTER, os.O_RDONLY | os.O_CLOEXEC), (0, POINTER, os.O_PATH)],
        [(0, POINTER, how) for how in (os.O_WRONLY, os.O_CREAT, os.O_TMPFILE, os.O_TRUNC)],
    ),
    "fcntl": (
        fcntl_of((0, 1, 2, 3, 1030)),
        fcntl_of((F_SETLK, F_SETOWN, F_SETSIG, F_SETLEASE, F_NOTIFY, 15, 37, 1031, 1033))
        + fcntl_of((F_SETFL,), os.O_ASYNC),
    ),
    "tgkill": (
        [(PID, 4712, signal) for signal in (6, 9, 32)],
        [(PID, 4712, signal) for signal in (0, 14, 17, 18, 19, 20, 29, 34)] + [(1, 1, 6)],
    ),
    "prctl": ([(15,), (16,), (0x53564D41,)], [(1,), (4,), (22,), (38,), (0x59616D61,), (35,)]),
    "sched_setaffinity": ([(0,), (PID,)], [(1,), (PID + 1,)]),
    "clock_gettime": ([(n,) for n in range(12)], [(~PID << 3 | 2,), (-6,)]),
    "prlimit64": ([(0, 7, NULL), (PID, 7, NULL)], [(1, 7, NULL), (PID + 1, 7, NULL)]),
    "ioctl": ([(1, 0x5401)], [(1, n) for n in (FIOASYNC, FIONBIO, TIOCSTI, FIOSETOWN, SETFLAGS)]),
}
NOT_FOR_CUDA: dict[str, list[tuple[int, ...]]] = {
    "openat": [(0, POINTER, os.O_RDWR)],
    "fcntl": fcntl_of((F_SETFL,), os.O_NONBLOCK),
    "prlimit64": [(0, 7, POINTER), (PID, 7, POINTER), (0, 7, 1 << 32)],
    "ioctl": [(3, 0xC020462A), (3, 0xC00C46D2), (3, 0x30000001), (3, 33)],
}


@pytest.mark.parametrize("name", EVERYWHERE)
def test_arguments_are_looked_at(machine: int, flavour: str, name: str) -> None:
    good, bad = EVERYWHERE[name]
    if (flavour, name) == ("python", "clone"):  # inputs.py starts no thread
        assert "clone" not in calls.FLAVOURS[flavour]
        return
    refused = ENOTTY if name == "ioctl" else EPERM
    assert {said(flavour, machine, name, *arguments) for arguments in good} == {ALLOWED}
    assert {said(flavour, machine, name, *arguments) for arguments in bad} == {refused}


@pytest.mark.parametrize("name", NOT_FOR_CUDA)
def test_only_the_driver_may(machine: int, flavour: str, name: str) -> None:
    refused = ENOTTY if name == "ioctl" else EPERM
    wanted = ALLOWED if flavour.startswith("cuda") else refused
    assert {said(flavour, machine, name, *args) for args in NOT_FOR_CUDA[name]} == {wanted}


def test_a_fault_ends_the_worker_unless_a_tool_watches(machine: int, flavour: str) -> None:
    faults = ALLOWED if flavour == "cuda under a tool" else EPERM
    assert [said(flavour, machine, "rt_sigaction", signal) for signal in (7, 11)] == [faults] * 2
    others = [n for n in range(1, 65) if n not in (7, 11)]
    assert {said(flavour, machine, "rt_sigaction", signal) for signal in others} == {ALLOWED}


def test_only_under_a_tool_sockets_that_are_open_may_be_used(machine: int) -> None:
    told, flavour = set(calls.TOOL), "cuda under a tool"
    assert not any(told & calls.FLAVOURS[name].keys() for name in {*calls.FLAVOURS} - {flavour})
    assert said(flavour, machine, "sendto", 3, POINTER, 8, 0, NULL, 0) == ALLOWED
    assert said(flavour, machine, "sendto", 3, POINTER, 8, 0, POINTER, 16) == EPERM


def test_numbers_are_this_machines() -> None:
    column = filters.architecture()
    if column is None:
        return
    number = calls.LIBC["getppid"][column]
    assert number is not None
    assert ctypes.CDLL(None).syscall(number) == os.getppid()


@pytest.mark.slow
def test_what_honest_code_calls_is_listed() -> None:
    if filters.architecture() is None:
        require("sandbox", "there is no filter for this architecture")
    seen = collected("openmp", only="std_thread")
    assert {"clone", "futex", "openat", "mmap"} <= seen["calls"].keys()
    assert seen["refused"].keys() == {"clone3"}, seen["refused"]


def test_compilers_are_refused_what_reaches_others_and_nothing_else(machine: int) -> None:
    code = compilers.program(machine, apart=False)
    numbers = {numbers[machine] for numbers in compilers.DENIED.values()} - {None}
    clone3, clone = compilers.CLONE3_CALL[machine], compilers.CLONE_CALL[machine]
    answers = {call: answer(code, machine, call) for call in EVERY_CALL}
    assert {call for call, said in answers.items() if said == EPERM} == numbers
    assert {call for call, said in answers.items() if said == ENOSYS} == {clone3}
    assert answer(code, machine, clone, [0x10000000]) == EPERM
    assert answer(code, machine, clone, [17]) == ALLOWED
    assert answer(code, 1 - machine, clone, [17]) == ENOSYS


def test_compilers_apart_from_others_may_signal_and_group_their_own(machine: int) -> None:
    code = compilers.program(machine, apart=True)
    for name in compilers.ALONE:
        assert answer(code, machine, compilers.DENIED[name][machine] or 0) == ALLOWED
