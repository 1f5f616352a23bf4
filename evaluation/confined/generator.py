"""Runs a problem's inputs.py, confined like a candidate: numpy and the standard library only.

stdin: a line of JSON {code, memory}, then one for each drawing, {sizes, variant, seed}. stdout: for
each drawing a line of JSON with name, dtype and shape of each array, then their bytes. What
inputs.py prints goes to stderr; its exceptions end this process. Each drawing runs the code anew,
with Python's and numpy's own chance seeded, so that the same seed gives the same arrays. Arguments
and environment hold nothing of the problem.

Before the code runs this process confines itself with the worker's own functions: a network of its
own, no privileges, no file but system libraries, Python's and numpy's for reading, the system calls
that Python needs, memory, CPU time. The judge sees to the deadline and to how much is printed.
Layers that a kernel lacks are missing here as well (probe.py tells).

Not covered: the arrays' values, which the problem declares.
"""

import ctypes
import json
import os
import random
import sys
import types
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING or __package__:
    from regraph_kg.evaluation.confined import files, filters, landlock, seccomp, worker
else:  # run by path, as worker.py is, which has made this folder's files importable
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    import files
    import filters
    import landlock
    import seccomp
    import worker

CPU_SECONDS = 120
HEAD_BYTES = 64  # spaces fill the first line to a multiple of this: the arrays are aligned


def main() -> None:
    """Read the code, confine this process, then draw and write the arrays of each order."""
    task = json.loads(sys.stdin.readline())
    with os.fdopen(os.dup(1), "wb") as reply:
        os.dup2(2, 1)
        confine(task["memory"])
        code = compile(task["code"], "inputs.py", "exec")
        for line in iter(sys.stdin.readline, ""):
            order = json.loads(line)
            for piece in drawn(code, order["sizes"], order["variant"], order["seed"]):
                reply.write(piece)
            reply.flush()


def drawn(code: types.CodeType, sizes: Mapping[str, int], variant: int, seed: Any) -> Iterator[Any]:
    """Pieces of one drawing, in the order in which they are written."""
    rng = np.random.default_rng(seed)
    np.random.seed(np.random.SeedSequence(seed).generate_state(1))
    random.seed(repr(seed))
    module = types.ModuleType("inputs")
    exec(code, module.__dict__)
    output = module.generate(dict(sizes), variant, rng)
    arrays = {name: np.ascontiguousarray(array) for name, array in dict(output).items()}
    head = json.dumps([[name, array.dtype.str, array.shape] for name, array in arrays.items()])
    yield head.encode() + b" " * (-(len(head) + 1) % HEAD_BYTES) + b"\n"
    for array in arrays.values():
        yield array.data.cast("B") if array.size else b""


def confine(memory: int) -> None:
    """Apply a worker's confinement, with Python's and numpy's own files readable."""
    libc = ctypes.CDLL(None, use_errno=True)
    owner = os.getuid(), os.getgid()
    paths = [*files.openable(cuda=False), *((path, files.READ) for path in packages())]
    worker.separate(libc)
    files.hide_others(libc, paths, owner)
    os.chdir("/")
    filters.drop_privileges(libc)
    landlock.restrict(libc, paths)
    worker.limit(CPU_SECONDS, memory)
    seccomp.confine(libc, "python")


def packages() -> set[str]:
    """Folders of the standard library and of numpy, as they are spelled and as they lie."""
    numpy = os.path.dirname(np.__file__)
    folders = {os.path.dirname(os.__file__), numpy, f"{numpy}.libs"}
    return folders | {os.path.realpath(path) for path in folders}


if __name__ == "__main__":
    main()
