"""Landlock by system calls: which files a process and its children may open, for good.

Standard library only, and few modules: worker.py and compilers.py load this file.

Not covered: modes, owners, times and extended attributes of files, which landlock does not know;
looking whether a file exists.
"""

import ctypes
import fcntl
import os
import stat
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable  # which takes milliseconds

# The same numbers on every architecture.
CREATE_RULESET_CALL, ADD_RULE_CALL, RESTRICT_SELF_CALL = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, DEVICE_IOCTL = 1 << 14, 1 << 15
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | DEVICE_IOCTL
"""What a rule on something that is no folder may grant."""
RIGHTS_BY_ABI = (0x1FFF, 0x3FFF, 0x7FFF, 0x7FFF, 0xFFFF)
"""Rights over files that ABI 1, 2, ... knows: 2 added moving, 3 truncating, 5 ioctl of devices."""
ALL_RIGHTS = RIGHTS_BY_ABI[-1]
TCP_SINCE, SCOPES_SINCE, QUIET_SINCE = 4, 6, 7
KEPT_OPEN = 200  # first descriptor that keeps the kernel from forgetting an inode of /proc
PR_SET_NO_NEW_PRIVS = 38


def abi(libc: ctypes.CDLL) -> int:
    """Landlock's version here; 0 or less where the kernel has none."""
    return int(libc.syscall(CREATE_RULESET_CALL, None, 0, 1))


def restrict(libc: ctypes.CDLL, rules: "Iterable[tuple[str, int]]") -> bool:
    """Refuse every file but those at or below these paths, with these rights; False: none here."""
    # TCP, signals to others and abstract sockets are refused as well, where the kernel can
    version = abi(libc)
    if version < 1:
        return False
    handled = RIGHTS_BY_ABI[min(version, len(RIGHTS_BY_ABI)) - 1]
    tcp, scopes = 3 * (version >= TCP_SINCE), 3 * (version >= SCOPES_SINCE)
    ruleset = libc.syscall(CREATE_RULESET_CALL, struct.pack("<QQQ", handled, tcp, scopes), 24, 0)
    if ruleset < 0:
        return False
    for path, rights in rules:
        permit(libc, ruleset, path, rights & handled)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)  # landlock asks for it
    restricted = libc.syscall(RESTRICT_SELF_CALL, ruleset, int(version >= QUIET_SINCE))
    os.close(ruleset)
    return bool(restricted == 0)


def permit(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    """Add a rule; nothing where this machine has no such path."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        rights &= FILE_RIGHTS
    libc.syscall(ADD_RULE_CALL, ruleset, 1, struct.pack("<Qi", rights, descriptor), 0)
    if path.startswith("/proc"):
        fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, KEPT_OPEN)
    os.close(descriptor)
