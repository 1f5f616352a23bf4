"""Runs a problem's inputs.py, confined like a candidate: numpy and the standard library only.

stdin: a line of JSON {code, memory}, then one for each drawing, {sizes, variant, seed, layout}; the
layout is name, type, dtype and shape of each array. stdout: for each drawing their bytes, and the
end of a line. What inputs.py prints goes to stderr; its exceptions end this process. Each drawing
runs the code anew, with Python's and numpy's own chance seeded, so that the same seed gives the
same arrays. Arguments and environment hold nothing of the problem. The judge sees to the deadline
and to how much is printed.

Not covered: the arrays' values, which the problem declares.
"""

import ctypes
import json
import os
import random
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from . import files, filters, landlock, seccomp, worker

CPU_SECONDS = 120


def start() -> None:
    """Read the code, confine this process, then draw and write the arrays of each order."""
    task = json.loads(sys.stdin.readline())
    with os.fdopen(os.dup(1), "wb") as reply:
        os.dup2(2, 1)
        confine(task["memory"])
        code = compile(task["code"], "inputs.py", "exec")
        for line in iter(sys.stdin.readline, ""):
            for array in drawn(code, **json.loads(line)):
                reply.write(array.reshape(-1).view(np.uint8).data)
            reply.write(b"\n")
            reply.flush()


def drawn(
    code: types.CodeType, sizes: Mapping[str, int], variant: int, seed: Any, layout: list[Any]
) -> Iterator[np.ndarray[Any, Any]]:
    """Arrays of one drawing, in the order of the layout. Ends this process where they differ."""
    rng = np.random.default_rng(seed)
    np.random.seed(np.random.SeedSequence(seed).generate_state(1))
    random.seed(repr(seed))
    module = types.ModuleType("inputs")
    exec(code, module.__dict__)
    output = module.generate(dict(sizes), variant, rng)
    arrays = {name: np.ascontiguousarray(array) for name, array in dict(output).items()}
    if arrays.keys() != {name for name, *_ in layout}:
        sys.exit(f"gives {sorted(arrays)}, needs {sorted(name for name, *_ in layout)}")
    for name, kind, dtype, shape in layout:
        array = arrays[name]
        if array.dtype not in (np.dtype(dtype), np.dtype(np.bool_ if kind == "bool" else dtype)):
            sys.exit(f"{name}: dtype {array.dtype}, declared {kind}")
        if [*array.shape] != shape:
            sys.exit(f"{name}: shape {[*array.shape]}, declared {shape}")
        yield array


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
