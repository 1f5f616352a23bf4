"""Arrays that a problem's inputs.py draws, run by generator.py, confined; none of it is believed.

It gets a deadline and a bare environment. So many bytes as the declared arrays have are read of it,
and their values are checked before they are used. Raises `BadInput`, in one line.

Not covered: whether the arrays fit the problem's meaning; an inputs.py that takes chance from
elsewhere than its arguments, and so draws something else for the same number.
"""

import contextlib
import fcntl
import json
import os
import re
import selectors
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from regraph_kg.errors import BadInput
from regraph_kg.evaluation import confined
from regraph_kg.evaluation.problem.declaration import Argument, Sizes, shape_text
from regraph_kg.evaluation.problem.problem import KEPT_DRAWINGS_BYTES, Problem
from regraph_kg.evaluation.problem.types import Array, parts

_SECONDS = 60.0  #: for one drawing, and of all drawings of a process
_PRINTED_BYTES = 2**20
_MEMORY_BYTES, _COPIES = 2 * 2**30, 8  #: address space: Python with numpy, and copies of the arrays
_CHUNK = 2**20
_KEPT_BYTES = KEPT_DRAWINGS_BYTES
_AHEAD_SECONDS = 1.0  #: how long to draw ahead for the first worker
_lock = threading.RLock()


class _Refused(Exception):
    """A fault of inputs.py."""


def custom(problem: Problem, sizes: Sizes, kind: int, seed: list[int]) -> dict[str, Array]:
    """Arrays of inputs.py by argument name, as declared. Raises `BadInput`."""
    # The process stays for the next drawing of the same problem: to start one takes 0.3 s.
    with _lock:
        if not (_warm and _warm[0].problem == problem):
            rest()
            _warm.append(Generator(problem))
        return _warm[0].draw(sizes, kind, seed)


def rest() -> None:
    """End the process that waits for a next drawing."""
    with _lock:
        while _warm:
            _warm.pop().close()


class Drawings:
    """Drawings at the timing shape in its first variant: the same number, the same arrays.

    They are kept while memory allows, and drawn again where they are asked for later. `ready` ones
    are handed to the workers of a session, each of which sees them in an order of its own and none
    twice: another process knows nothing of them. `seed` is secret. `rest` ends their process.
    """

    def __init__(self, problem: Problem, seed: int) -> None:
        self._problem, self._seed = problem, seed
        self._kept: dict[int, Mapping[str, Array]] = {}
        self._last: tuple[int, Mapping[str, Array]] | None = None
        self._free = _KEPT_BYTES
        self._count, self._spent = 0, 0.0
        self._is_ahead = False

    def get(self, number: int) -> Mapping[str, Array]:
        """Arrays by argument name. Raises `BadInput` where inputs.py fails."""
        if number in self._kept:
            return self._kept[number]
        if self._last and self._last[0] == number:
            return self._last[1]
        self._last = None  # before the next is there
        start = time.perf_counter()
        arrays = custom(self._problem, self._problem.sizes.time, 0, [self._seed, number])
        self._count, self._spent = self._count + 1, self._spent + time.perf_counter() - start
        nbytes = _nbytes(arrays)
        if nbytes <= self._free:
            self._free -= nbytes
            self._kept[number] = arrays
        else:
            self._last = number, arrays
        return arrays

    def ready(self, first: int) -> list[int]:
        """Numbers of those that are kept; more are drawn ahead, from `first` on, the first time."""
        if not self._is_ahead:
            self._is_ahead = True
            end = time.perf_counter() + _AHEAD_SECONDS
            while time.perf_counter() < end:
                each = _nbytes(next(iter(self._kept.values()), {}))
                # one more would be kept, and half of the room be left for those to come
                if self._count and not (each and self._free - each > _KEPT_BYTES // 2):
                    break
                self.get(first)
                first += 1
        return list(self._kept)

    def drop(self, number: int) -> None:
        """Never hand out this drawing again."""
        dropped = self._kept.pop(number, {})
        self._free += _nbytes(dropped)

    @property
    def seconds(self) -> float:
        return self._spent / max(self._count, 1)


def _nbytes(arrays: Mapping[str, Array]) -> int:
    return sum(array.nbytes for array in arrays.values())


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
        wanted = [arg.at(sizes) for arg in self.problem.inputs if arg.is_custom]
        layout = [(a.name, a.type, a.dtype.str, a.dimensions(sizes)) for a in wanted]
        order = {"sizes": dict(sizes), "variant": kind, "seed": seed, "layout": layout}
        try:
            arrays = dict(_checked(self._reply(order, nbytes), wanted, sizes))
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
        return sum(arg.nbytes(sizes) for arg in self.problem.inputs if arg.is_custom)

    def close(self) -> None:
        if self._process:
            process, self._process, self._spent = self._process, None, 0.0
            process.kill()
            with process:  # its pipes are closed
                pass

    def _reply(self, order: dict[str, Any], nbytes: int) -> bytearray:
        """The bytes of one drawing, and what ends it."""
        lines = f"{json.dumps(order)}\n"
        if self._process is None:
            self._process = subprocess.Popen(
                confined.command("generator", packages=True),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd="/",
                env={"PATH": "/usr/bin:/bin", "LANG": "C", "OPENBLAS_NUM_THREADS": "1"},
                start_new_session=True,
            )
            assert self._process.stdout
            with contextlib.suppress(OSError):  # a user may have many pipes: then they are short
                fcntl.fcntl(self._process.stdout, fcntl.F_SETPIPE_SZ, _CHUNK)
            memory = _MEMORY_BYTES + _COPIES * self._room
            task = {"code": self.problem.inputs_code, "memory": memory}
            lines = f"{json.dumps(task)}\n{lines}"
        reply, printed = _exchange(self._process, lines.encode(), nbytes)
        if len(reply) <= nbytes:  # its pipes are closed
            said = printed.decode(errors="replace")
            last = (said.strip().splitlines() or ["it ended without a word"])[-1]
            places = re.findall(r'File "inputs\.py", line (\d+)', said)
            text = "".join(char if char.isprintable() else " " for char in last)[:300]
            raise _Refused(f"line {places[-1]}: {text}" if places else text)
        if len(reply) > nbytes + 1:
            raise _Refused("gives more bytes than its arrays have")
        return reply


_warm: list[Generator] = []  # the generator of the last problem, if one waits


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
        while selector.get_map() and len(reply) <= nbytes:
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
    return reply, printed


def _checked(
    reply: bytearray, wanted: Sequence[Argument], sizes: Sizes
) -> Iterator[tuple[str, Array]]:
    """The declared arrays by name, as views of the reply's memory."""
    at = 0
    for arg in wanted:
        shape = arg.dimensions(sizes)
        array = np.frombuffer(reply, arg.dtype, prod(shape), at).reshape(shape)
        at += array.nbytes
        if not np.isfinite(array).all():
            raise _Refused(f"{arg.name}: has NaN or Inf")
        if arg.bounds and array.size:
            low, high = parts(array).min(), parts(array).max()
            if not (arg.bounds[0] <= low and high <= arg.bounds[1]):
                message = f"values from {low:.6g} to {high:.6g}, declared range {list(arg.bounds)}"
                raise _Refused(f"{arg.name}: {message}")
        yield arg.name, array
