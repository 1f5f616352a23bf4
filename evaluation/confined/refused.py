"""System calls that compilers are refused, as a seccomp filter.

Standard library only. Compilers start processes and write files, so that this is a list of refused
calls: those that reach other processes, the network, the kernel's keys and tables, or namespaces.

Not covered: calls of kernels to come; machines that are neither x86_64 nor aarch64.
"""

from . import filters

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


def program(machine: int, apart: bool) -> bytes:
    """The filter: calls that are not named here are let through.

    `apart`: a process sees no others but its own, and ends with the first of them.
    """
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
