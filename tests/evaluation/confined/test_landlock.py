"""Landlock's rules as a kept library makes them refuse what ours refuse, and no more.

Each side restricts a process of its own, which then tries the same things. Not here: what a worker
may do at all (test_isolation.py).
"""

import ctypes
import json
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from regraph_kg.evaluation.confined import landlock

from ...requirement import require

TRIES = """
import ctypes, errno, json, os, socket, subprocess, sys
side, home, port, abstract, process = sys.argv[1:]
given, other = f"{home}/given", f"{home}/other"
READ, WRITE = 0b1100, 0b1110 | 1 << 14 | 1 << 8
system = ("/usr", "/lib", "/lib64", "/bin", "/etc", sys.prefix)
rules = [(path, 0b1101) for path in system if os.path.exists(path)]
rules += [(given, READ), (f"{given}/own", WRITE)]
if side == "ours":
    from regraph_kg.evaluation.confined import landlock
    assert landlock.restrict(ctypes.CDLL(None, use_errno=True), rules)
elif side == "theirs":
    from landlockpy import AccessFS, Ruleset, Scope
    scoped = Scope.ABSTRACT_UNIX_SOCKET | Scope.SIGNAL
    with Ruleset(handled_fs=AccessFS(2**16 - 1), scoped=scoped) as made:
        for path, rights in rules:
            made.allow_path(path, AccessFS(rights))
        made.restrict()

def connect(address, family=socket.AF_INET):
    with socket.socket(family) as one:
        one.connect(address)

tries = {
    "read": lambda: open(f"{given}/file").read(),
    "list": lambda: os.listdir(given),
    "write": lambda: open(f"{given}/own/file", "w").write("x"),
    "truncate": lambda: os.truncate(f"{given}/own/file", 0),
    "make a folder": lambda: os.mkdir(f"{given}/own/folder"),
    "link": lambda: os.symlink("x", f"{given}/own/link"),
    "write what may be read": lambda: open(f"{given}/file", "a"),
    "truncate what may be read": lambda: os.truncate(f"{given}/file", 0),
    "move away": lambda: os.rename(f"{given}/own/file", f"{other}/moved"),
    "remove": lambda: os.remove(f"{given}/own/spare"),
    "run what may be read": lambda: subprocess.run([f"{given}/program"], check=True),
    "run of the system": lambda: subprocess.run(["/usr/bin/true"], check=True),
    "read another": lambda: open(f"{other}/file").read(),
    "list another": lambda: os.listdir(other),
    "run another": lambda: subprocess.run([f"{other}/program"], check=True),
    "read by a link": lambda: open(f"{given}/to-other").read(),
    "connect": lambda: connect(("127.0.0.1", int(port))),
    "connect by name": lambda: connect("\\0" + abstract, socket.AF_UNIX),
    "serve": lambda: socket.create_server(("127.0.0.1", 0)).close(),
    "signal": lambda: os.kill(int(process), 0),
}
found = {}
for name, attempt in tries.items():
    try:
        attempt()
        found[name] = "done"
    except OSError as error:
        found[name] = errno.errorcode[error.errno]
print(json.dumps(found))
"""


def home(folder: Path) -> Path:
    """What the tries are about."""
    for name in ("given", "other"):
        made = folder / name
        (made / "own").mkdir(parents=True)
        (made / "file").write_text("x")
        (made / "own" / "spare").write_text("x")
        (made / "program").write_text("#!/bin/sh\n")
        (made / "program").chmod(0o755)
    (folder / "given" / "to-other").symlink_to(folder / "other" / "file")
    return folder


def test_a_kept_library_refuses_the_same(tmp_path: Path) -> None:
    if not find_spec("landlockpy"):
        require("sandbox", "landlockpy is not installed")
    if landlock.abi(ctypes.CDLL(None)) < landlock.SCOPES_SINCE:
        require("sandbox", "landlock here does not know signals and abstract sockets")
    found: dict[str, dict[str, str]] = {}
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.socket(socket.AF_UNIX) as abstract,
        subprocess.Popen(["sleep", "60"]) as sleeper,
    ):
        name = f"regraph-landlock-{sleeper.pid}"
        abstract.bind(f"\0{name}")
        abstract.listen()
        for side in ("nobody", "ours", "theirs"):
            place = (home(tmp_path / side), listener.getsockname()[1], name, sleeper.pid)
            done = subprocess.run(
                [sys.executable, "-c", TRIES, side, *map(str, place)],
                capture_output=True,
                text=True,
                check=False,
                cwd=Path(__file__).parents[3],
            )
            assert done.returncode == 0, done.stderr
            found[side] = json.loads(done.stdout)
        sleeper.kill()
    assert set(found["nobody"].values()) == {"done"}
    assert found["ours"] == found["theirs"]
    came = {name for name, said in found["ours"].items() if said == "done"}
    assert came == {"read", "list", "write", "truncate", "run of the system"}
