"""Arrays that a problem's inputs.py draws, run by generator.py, confined; none of it is believed.

It gets a deadline and a bare environment; what it prints and gives is read up to a bound, and its
arrays are checked against their declarations before they are used. Raises `BadInput`, in one line.

Not covered: whether the arrays are what the problem means.
"""

import contextlib
import json
import operator
import os
import re
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem import Argument, Problem, Sizes, shape_text

Array = NDArray[Any]

_GENERATOR = Path(__file__).with_name("generator.py").resolve()
_SECONDS = 60.0
_HEAD_BYTES, _PRINTED_BYTES = 2**16, 2**20
_MEMORY_BYTES, _COPIES = 2 * 2**30, 8
"""Address space: Python with numpy, and so many times the arrays asked for."""
_CHUNK = 2**20
_LAST_SECONDS = 5.0


class _Refused(Exception):
    """What is wrong with what inputs.py did."""


def custom(problem: Problem, sizes: Sizes, kind: int, seed: list[int]) -> dict[str, Array]:
    """Arrays of inputs.py by argument name, as declared. Raises `BadInput`."""
    wanted = {arg.name: arg for arg in problem.inputs if arg.is_custom}
    nbytes = sum(
        int(np.prod(arg.dimensions(sizes), dtype=object)) * np.dtype(arg.type).itemsize
        for arg in wanted.values()
    )
    order = {
        "code": problem.inputs_code,
        "sizes": dict(sizes),
        "variant": kind,
        "seed": seed,
        "memory": _MEMORY_BYTES + _COPIES * nbytes,
    }
    try:
        reply = _run(json.dumps(order).encode(), nbytes + _HEAD_BYTES)
        return dict(_received(reply, wanted, sizes))
    except _Refused as refused:
        where = f"problem {problem.name}: inputs.py at {shape_text(sizes)}"
        raise BadInput(f"{where}: {refused}") from None


def _run(order: bytes, most: int) -> bytearray:
    """What generator.py gives, at most `most` bytes and the chunk in which they are passed."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-B", str(_GENERATOR)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "LANG": "C", "OPENBLAS_NUM_THREADS": "1"},
        start_new_session=True,
    )
    with process:
        try:
            reply, printed = _exchange(process, order, most)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_LAST_SECONDS)  # both pipes are closed: it ends
        finally:
            process.kill()
    if len(reply) <= most and process.returncode:
        raise _Refused(_complaint(printed.decode(errors="replace")))
    return reply


def _exchange(
    process: subprocess.Popen[bytes], order: bytes, most: int
) -> tuple[bytearray, bytearray]:
    """Give the order; what came back and what was printed, until it ends or exceeds its bound."""
    assert process.stdin
    assert process.stdout
    assert process.stderr
    deadline = time.monotonic() + _SECONDS
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(order)  # read before anything of the problem runs
        process.stdin.close()
    reply, printed = bytearray(), bytearray()
    kept = {
        process.stdout.fileno(): (reply, most),
        process.stderr.fileno(): (printed, _PRINTED_BYTES),
    }
    with selectors.DefaultSelector() as selector:
        for descriptor in kept:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            ready = selector.select(max(left, 0)) if left > 0 else []
            if not ready:
                raise _Refused(f"no arrays after {_SECONDS:.0f} s")
            for key, _ in ready:
                buffer, bound = kept[key.fd]
                chunk = os.read(key.fd, _CHUNK)
                buffer += chunk
                if not chunk:
                    selector.unregister(key.fd)
                elif buffer is reply and len(reply) > bound:
                    process.kill()
                    return reply, printed
                elif len(buffer) > bound:
                    raise _Refused(f"prints more than {bound} bytes")
    return reply, printed


def _received(
    reply: bytearray, wanted: dict[str, Argument], sizes: Sizes
) -> Iterator[tuple[str, Array]]:
    """The arrays, each as it is declared."""
    end = reply.find(b"\n", 0, _HEAD_BYTES)
    try:
        given = {
            str(name): (np.dtype(str(kind)), tuple(map(operator.index, shape)))
            for name, kind, shape in json.loads(reply[:end])
        }
    except (ValueError, TypeError, RecursionError, OverflowError, SyntaxError):
        raise _Refused("gives nothing that can be read as arrays") from None
    if set(given) != set(wanted):
        raise _Refused(f"gives {sorted(given)}, needs {sorted(wanted)}"[:300])
    for name, (dtype, shape) in given.items():
        declared = wanted[name]
        if dtype != np.dtype(declared.type):
            raise _Refused(f"{name}: dtype {dtype}, declared {declared.type}")
        if shape != declared.dimensions(sizes):
            raise _Refused(
                f"{name}: shape {list(shape)}, declared {list(declared.dimensions(sizes))}"[:300]
            )
    at = end + 1
    for name, (dtype, shape) in given.items():
        count = int(np.prod(shape, dtype=object))
        if at + count * dtype.itemsize > len(reply):
            raise _Refused(f"{name}: ends after {len(reply) - at} bytes")
        array = np.frombuffer(reply, dtype, count, at).reshape(shape).copy()
        at += count * dtype.itemsize
        _require_values(name, array, wanted[name])
        yield name, array


def _require_values(name: str, array: Array, arg: Argument) -> None:
    if not np.isfinite(array).all():
        raise _Refused(f"{name}: has NaN or Inf")
    if (
        arg.range
        and array.size
        and not (arg.range[0] <= array.min() and array.max() <= arg.range[1])
    ):
        low, high = array.min(), array.max()
        raise _Refused(
            f"{name}: values from {low:.6g} to {high:.6g}, declared range {list(arg.range)}"
        )


def _complaint(errors: str) -> str:
    """The last line of a traceback, and the line of inputs.py it speaks of."""
    lines = errors.strip().splitlines() or ["it ended without a word"]
    places = re.findall(r'File "inputs\.py", line (\d+)', errors)
    last = "".join(char if char.isprintable() else " " for char in lines[-1])[:300]
    return f"line {places[-1]}: {last}" if places else last
