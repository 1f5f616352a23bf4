"""Runs a problem's inputs.py once, confined like a candidate: numpy and the standard library only.

stdin: one JSON object {code, sizes, variant, seed, memory}. stdout: a line of JSON with name, dtype
and shape of each array, then their bytes. What inputs.py prints goes to stderr; its exceptions end
this process. Arguments and environment hold nothing of the problem.

Before the code runs this process confines itself with the worker's own functions: a network of its
own, no privileges, no file but system libraries, Python's and numpy's for reading, the system calls
that Python needs, memory, CPU time. The judge sees to the deadline and to how much is printed.
What a kernel lacks of it is missing here as well (sandbox.py tells).

Not covered: what the arrays hold, which is the problem's to say.
"""

import ctypes
import json
import os
import sys
import types
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING or __package__:
    from regraph_kg.evaluation import files, landlock, seccomp, worker
else:  # run by path, as worker.py is, which has made this folder's files importable
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    import files
    import landlock
    import seccomp
    import worker

CPU_SECONDS = 120


def main() -> None:
    """Read the order, confine this process, draw, write the arrays."""
    order = json.load(sys.stdin)
    rng = np.random.default_rng(order["seed"])
    with os.fdopen(os.dup(1), "wb") as reply:
        os.dup2(2, 1)
        confine(order["memory"])
        module = types.ModuleType("inputs")
        exec(compile(order["code"], "inputs.py", "exec"), module.__dict__)
        made = module.generate(dict(order["sizes"]), order["variant"], rng)
        arrays = {name: np.ascontiguousarray(array) for name, array in dict(made).items()}
        head = [[name, array.dtype.str, array.shape] for name, array in arrays.items()]
        reply.write(json.dumps(head).encode() + b"\n")
        for array in arrays.values():
            reply.write(array.data.cast("B") if array.size else b"")


def confine(memory: int) -> None:
    """All that confines a worker, with Python's and numpy's own files to be read."""
    libc = ctypes.CDLL(None, use_errno=True)
    owner = os.getuid(), os.getgid()
    paths = [*files.openable(cuda=False), *((path, files.READ) for path in packages())]
    worker.separate(libc)
    files.own_root(libc, paths, owner)
    os.chdir("/")
    worker.drop_privileges(libc)
    landlock.restrict(libc, paths)
    worker.limit(CPU_SECONDS, memory)
    seccomp.confine(libc, "python")


def packages() -> set[str]:
    """Folders of the standard library and of numpy, as they are spelled and as they lie."""
    numpy = os.path.dirname(np.__file__)
    found = {os.path.dirname(os.__file__), numpy, f"{numpy}.libs"}
    return found | {os.path.realpath(path) for path in found}


if __name__ == "__main__":
    main()
