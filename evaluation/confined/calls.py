"""The system calls that a confined process may make, by number: (x86_64, aarch64).

Standard library only, like all that worker.py imports. None where the architecture has no such
call. A list is what was seen with tests/evaluation/confined/collect_calls.py, and what other
versions of the same libraries do instead.

Not covered: other architectures; libraries than glibc that make other calls for the same ends.
"""

from .filters import Numbers, numbers

LIBC = numbers(
    """
    futex 202 98, ioctl 16 29, read 0 63, write 1 64, writev 20 66, pread64 17 67, close 3 57,
    lseek 8 62, fstat 5 80, newfstatat 262 79, openat 257 56, getdents64 217 61, fcntl 72 25,
    mmap 9 222, mprotect 10 226, munmap 11 215, mremap 25 216, madvise 28 233, brk 12 214,
    set_robust_list 273 99, rseq 334 293, clone 56 220, sched_yield 24 124,
    sched_getaffinity 204 123, sched_setaffinity 203 122, clock_gettime 228 113,
    clock_getres 229 114, gettimeofday 96 169, time 201 -, nanosleep 35 101,
    clock_nanosleep 230 115, restart_syscall 219 128, rt_sigaction 13 134, rt_sigprocmask 14 135,
    rt_sigreturn 15 139, sigaltstack 131 132, tgkill 234 131, exit 60 93, exit_group 231 94,
    getrandom 318 278, getpid 39 172, gettid 186 178, getppid 110 173, getuid 102 174,
    geteuid 107 175, getgid 104 176, getegid 108 177, uname 63 160, sysinfo 99 179,
    getrusage 98 165, times 100 153, getcpu 309 168, getrlimit 97 163, prlimit64 302 261,
    prctl 157 167
    """
)
"""For everybody: libc, libstdc++, libgomp, the loader and the harness."""

FILES = numbers(
    """
    stat 4 -, lstat 6 -, statx 332 291, access 21 -, faccessat 269 48, faccessat2 439 439,
    readlink 89 -, readlinkat 267 78, getcwd 79 17, dup 32 23, readv 19 65
    """
)
"""For Python, which runs a problem's inputs.py, and for the GPU's driver."""

DRIVER = numbers(
    """
    pwrite64 18 68, poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, pipe 22 -, pipe2 293 59,
    dup2 33 -, dup3 292 24, eventfd2 290 19, epoll_create1 291 20, epoll_ctl 233 21,
    epoll_wait 232 -, epoll_pwait 281 22, memfd_create 319 279, statfs 137 43, fstatfs 138 44,
    mincore 27 232, msync 26 227, mlock 149 228, mlock2 325 284, munlock 150 229,
    get_mempolicy 239 236, set_mempolicy 238 237, mbind 237 235, membarrier 324 283, capget 125 90,
    sched_getparam 143 121, sched_getscheduler 145 120, sched_get_priority_max 146 125,
    sched_get_priority_min 147 126, getpgrp 111 -, getpgid 121 155, getsid 124 156,
    getgroups 115 158, getresuid 118 148, getresgid 120 150
    """
)
"""For cuda only: what the GPU's driver and runtime may ask for."""

TOOL = numbers(
    """
    sendto 44 206, recvfrom 45 207, sendmsg 46 211, recvmsg 47 212, shutdown 48 210,
    getsockopt 55 209
    """
)
"""For cuda under compute-sanitizer: its library tells the tool what it finds by a socket that it
opened before the worker was confined. Without them it finds faults and reports none."""

FLAVOURS: dict[str, Numbers] = {
    "openmp": LIBC,
    "python": {name: numbers for name, numbers in (LIBC | FILES).items() if name != "clone"},
    "cuda": LIBC | FILES | DRIVER,
    "cuda under a tool": LIBC | FILES | DRIVER | TOOL,
}
"""Calls by who makes them."""
