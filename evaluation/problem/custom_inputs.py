"""Arrays that a problem's inputs.py draws, run by generator.py, confined; none of it is believed.

It gets a deadline and a bare environment; its output is read up to a bound, and its
arrays are checked against their declarations before they are used. Raises `BadInput`, in one line.

Not covered: whether the arrays fit the problem's meaning.
"""

import contextlib
import fcntl
import json
import operator
import os
import re
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.problem import Argument, Array, Problem, Sizes, shape_text
from regraph_kg.evaluation.problem.types import parts

_GENERATOR = (Path(__file__).parents[1] / "confined" / "generator.py").resolve()
_SECONDS = 60.0  #: for one drawing, and of all drawings of a process
_HEAD_BYTES, _PRINTED_BYTES = 2**16, 2**20
_MEMORY_BYTES, _COPIES = 2 * 2**30, 8  #: address space: Python with numpy, and copies of the arrays
_CHUNK = 2**20
_LAST_SECONDS = 5.0
_lock = threading.Lock()


class _Refused(Exception):
    """A fault of inputs.py."""


def custom(problem: Problem, sizes: Sizes, kind: int, seed: list[int]) -> dict[str, Array]:
    """Arrays of inputs.py by argument name, as declared. Raises `BadInput`.

    The process stays for the next drawing of the same problem: to start one takes 0.3 s.
    """
    with _lock:
        if not (_warm and _warm[0].problem == problem):
            _end_warm()
            _warm.append(Generator(problem))
        return _warm[0].draw(sizes, kind, seed)


def rest() -> None:
    """End the process that waits for a next drawing."""
    with _lock:
        _end_warm()


def _end_warm() -> None:
    while _warm:
        _warm.pop().close()


class Generator:
    """Draws arrays of inputs.py, as often as it is asked; `close` it.

    One process does, started when first asked, and anew once it has drawn for a minute, or where
    a shape needs more memory than it may have.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._process: subprocess.Popen[bytes] | None = None
        self._room, self._spent = self._nbytes(problem.sizes.time), 0.0

    def draw(self, sizes: Sizes, kind: int, seed: list[int]) -> dict[str, Array]:
        """Arrays by argument name, as declared. Raises `BadInput`."""
        start, nbytes = time.perf_counter(), self._nbytes(sizes)
        if nbytes > self._room:
            self.close()
            self._room = nbytes
        wanted = {a.name: a.at(sizes) for a in self.problem.inputs if a.is_custom}
        try:
            order = {"sizes": dict(sizes), "variant": kind, "seed": seed}
            arrays = dict(_received(self._reply(order, nbytes), wanted, sizes))
        except _Refused as refused:
            self.close()
            where = f"problem {self.problem.name}: inputs.py at {shape_text(sizes)}"
            raise BadInput(f"{where}: {refused}") from None
        except BaseException:  # interrupted: its reply would be taken for the next one's
            self.close()
            raise
        self._spent += time.perf_counter() - start
        if self._spent > _SECONDS:  # its limit of CPU time is for all drawings
            self.close()
        return arrays

    def _nbytes(self, sizes: Sizes) -> int:
        """Bytes of what it draws."""
        custom_ = (arg for arg in self.problem.inputs if arg.is_custom)
        return sum(arg.elements(sizes) * arg.dtype.itemsize for arg in custom_)

    def close(self) -> None:
        if self._process:
            process, self._process, self._spent = self._process, None, 0.0
            process.kill()
            with process:  # its pipes are closed
                pass

    def _reply(self, order: dict[str, Any], nbytes: int) -> bytearray:
        """The line and the bytes of one drawing."""
        lines = f"{json.dumps(order)}\n"
        if self._process is None:
            self._process = _started()
            memory = _MEMORY_BYTES + _COPIES * self._room
            task = {"code": self.problem.inputs_code, "memory": memory}
            lines = f"{json.dumps(task)}\n{lines}"
        reply, printed = _exchange(self._process, lines.encode(), nbytes)
        if len(reply) < _length(reply, nbytes):
            with contextlib.suppress(subprocess.TimeoutExpired):
                if self._process.wait(_LAST_SECONDS):  # its pipes are closed: it ends
                    raise _Refused(_complaint(printed.decode(errors="replace")))
        return reply


_warm: list[Generator] = []
"""The generator of the last problem, if one waits."""


def _started() -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-I", "-B", str(_GENERATOR)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "LANG": "C", "OPENBLAS_NUM_THREADS": "1"},
        start_new_session=True,
    )
    assert process.stdout
    with contextlib.suppress(OSError):  # a user may have many pipes: then they are short ones
        fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, _CHUNK)
    return process


def _length(reply: bytearray, nbytes: int) -> int:
    """Bytes of a whole reply; more than there are while its first line has not ended."""
    end = reply.find(b"\n", 0, _HEAD_BYTES)
    if end < 0:
        return len(reply) + 1
    try:
        claimed = sum(prod(shape) * dtype.itemsize for dtype, shape in _head(reply, end).values())
    except _Refused:
        claimed = 0
    return end + 1 + min(claimed, nbytes)


def _head(reply: bytearray, end: int) -> dict[str, tuple[np.dtype[Any], tuple[int, ...]]]:
    """Type and shape of each array, by name, as the first line says."""
    try:
        return {
            str(name): (np.dtype(str(kind)), tuple(map(operator.index, shape)))
            for name, kind, shape in json.loads(reply[:end])
        }
    except (ValueError, TypeError, RecursionError, OverflowError, SyntaxError):
        raise _Refused("gives nothing that can be read as arrays") from None


def _exchange(
    process: subprocess.Popen[bytes], order: bytes, nbytes: int
) -> tuple[bytearray, bytearray]:
    """Send the order; read the reply and the printed text until the reply is complete or ends."""
    assert process.stdin
    assert process.stdout
    assert process.stderr
    deadline = time.monotonic() + _SECONDS
    with contextlib.suppress(BrokenPipeError):
        while order:  # it is read before anything of the problem runs, or while that has ended
            order = order[process.stdin.write(order) :]
    reply, printed = bytearray(), bytearray()
    streams = {process.stdout.fileno(): reply, process.stderr.fileno(): printed}
    with selectors.DefaultSelector() as selector:
        for descriptor in streams:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map() and len(reply) < _length(reply, nbytes):
            remaining = deadline - time.monotonic()
            events = selector.select(max(remaining, 0)) if remaining > 0 else []
            if not events:
                raise _Refused(f"no arrays after {_SECONDS:.0f} s")
            for key, _ in events:
                chunk = os.read(key.fd, _CHUNK)
                streams[key.fd] += chunk
                if not chunk:
                    selector.unregister(key.fd)
            if len(printed) > _PRINTED_BYTES:
                raise _Refused(f"prints more than {_PRINTED_BYTES} bytes")
            if len(reply) > _HEAD_BYTES + nbytes:
                break  # no line ends so late, or there is more than the arrays
    return reply, printed


def _received(
    reply: bytearray, arguments: dict[str, Argument], sizes: Sizes
) -> Iterator[tuple[str, Array]]:
    """The declared arrays, as views of the reply's memory."""
    end = reply.find(b"\n", 0, _HEAD_BYTES)
    layout = _head(reply, end)
    _require_declared(layout, arguments, sizes)
    at = end + 1
    for name, (dtype, shape) in layout.items():
        count = prod(shape)
        if at + count * dtype.itemsize > len(reply):
            raise _Refused(f"{name}: ends after {len(reply) - at} bytes")
        array = np.frombuffer(reply, arguments[name].dtype, count, at).reshape(shape)
        at += count * dtype.itemsize
        _require_values(name, array, arguments[name])
        yield name, array
    if at < len(reply):
        raise _Refused(f"gives {len(reply) - at} bytes more than its arrays")


def _require_declared(
    layout: dict[str, tuple[np.dtype[Any], tuple[int, ...]]],
    arguments: dict[str, Argument],
    sizes: Sizes,
) -> None:
    if set(layout) != set(arguments):
        raise _Refused(f"gives {sorted(layout)}, needs {sorted(arguments)}"[:300])
    for name, (dtype, shape) in layout.items():
        declared = arguments[name]
        native = np.dtype(np.bool_) if declared.type == "bool" else declared.dtype
        if dtype not in (declared.dtype, native):
            raise _Refused(f"{name}: dtype {dtype}, declared {declared.type}")
        if shape != declared.dimensions(sizes):
            raise _Refused(
                f"{name}: shape {list(shape)}, declared {list(declared.dimensions(sizes))}"[:300]
            )


def _require_values(name: str, array: Array, arg: Argument) -> None:
    if not np.isfinite(array).all():
        raise _Refused(f"{name}: has NaN or Inf")
    if arg.bounds and array.size:
        low, high = parts(array).min(), parts(array).max()
        if not (arg.bounds[0] <= low and high <= arg.bounds[1]):
            message = f"values from {low:.6g} to {high:.6g}, declared range {list(arg.bounds)}"
            raise _Refused(f"{name}: {message}")


def _complaint(errors: str) -> str:
    """The last line of a traceback, and the line of inputs.py it speaks of."""
    lines = errors.strip().splitlines() or ["it ended without a word"]
    places = re.findall(r'File "inputs\.py", line (\d+)', errors)
    message = "".join(char if char.isprintable() else " " for char in lines[-1])[:300]
    return f"line {places[-1]}: {message}" if places else message
