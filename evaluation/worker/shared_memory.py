"""The shared memory that judge and worker have in common, and its layout.

One anonymous file (memfd: nothing in /dev/shm, gone with its last user):

    Control        the next command and its result (mirrors `Control` of harness/harness.cpp)
    sequence       uint32[MAX_BATCH]: rows to call, in order
    parts          PART[MAX_BATCH]: entries of `sealed` to unseal before each of these calls
    rows           uint64[calls][arguments]: one prepared call a row: an array's offset from the
                   shared memory's start, or a scalar's bits
    digests        uint64[MAX_BATCH], metric "device": of each call's outputs (native/arrays.cpp)
    spans          SPAN[MAX_SPANS]: bytes to copy to the device, or back
    guards         pages that the worker makes inaccessible
    sealed         SEALED[MAX_SEALED], metric "device": see sealing.py
    arrays         each between two guard pages, its end as near to the second as alignment lets it

Gaps around arrays hold CANARY bytes, or a pattern. `sealed` and all that follows has its copy on a
device.
"""

import contextlib
import ctypes
import fcntl
import math
import mmap
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag
from functools import cached_property
from typing import Any

import numpy as np

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.native import arrays
from regraph_kg.evaluation.problem.declaration import Argument, Sizes
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.types import Array
from regraph_kg.evaluation.rules import Defences

PAGE = mmap.PAGESIZE
MAX_BATCH = 4096
MAX_SPANS = 4096
SPAN = np.dtype([("at", np.uint64), ("bytes", np.uint64)])
"""Bytes of the shared memory: where (from its start), and how many."""
PART = np.dtype([("first", np.uint32), ("arrays", np.uint32), ("elements", np.uint32)])
"""A part of the table `sealed`: so many arrays from the first on, then so many elements."""
MAX_SEALED = 2**15
SEALED = np.dtype([(name, np.uint64) for name in ("at", "bytes", "value", "block")])
"""An array, or one element of an array with its new bits; `block` is where its keystream begins.
An output: `value` is its digest's number."""
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
"""A worker that shrank it would take the judge down with it."""
CANARY = 0xFF
"""Reads as NaN, or as -1, where a candidate reads outside an array. What adds to it there leaves it
as it was: therefore gaps hold a pattern in other calls."""
POISON = 0xFF  # what outputs hold before a call: NaN, or -1
MESSAGE_BYTES = 512


class Flag(IntFlag):
    """Defences that the harness carries out (harness.cpp); by the switch of the same name."""

    POISON = 1
    DEVICE_SYNC = 2
    DEVICE_ERRORS = 4
    DEVICE_GUARDS = 8
    DEVICE_STATE = 16


Key = ctypes.c_uint64 * 2


class Control(ctypes.Structure):
    """Head of the shared memory; field for field the `Control` of harness/harness.cpp."""

    _fields_ = (
        *((name, ctypes.c_uint64) for name in ("size", "nonce", "bytes")),
        *((name, ctypes.c_uint32) for name in ("command", "finished")),
        ("done", ctypes.c_uint64),
        *((name, ctypes.c_uint32) for name in ("stage", "operation")),
        *((name, ctypes.c_uint64) for name in ("count", "nanoseconds")),
        ("status", ctypes.c_int64),
        *((name, ctypes.c_uint64) for name in ("fault", "sequence_at", "parts_at", "rows_at")),
        *((name, ctypes.c_uint64) for name in ("spans_at", "guards_at", "guards", "sealed_at")),
        ("key", Key),
        *((name, ctypes.c_uint64) for name in ("confined", "flags", "allocations", "launches")),
        *((name, ctypes.c_uint64) for name in ("frees", "steps", "digests_at")),
        *((name, ctypes.c_uint32) for name in ("outputs_first", "outputs")),
        ("message", ctypes.c_char * MESSAGE_BYTES),
    )


@dataclass(frozen=True, slots=True)
class ArrayPlace:
    """Place of an array: bytes from the start; `first` to `last` includes its gaps."""

    name: str
    offset: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    first: int
    last: int

    @property
    def nbytes(self) -> int:
        return self.dtype.itemsize * math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class Call:
    """One prepared call: a row of the shared memory, its shape and its arrays by argument name."""

    row: int
    sizes: Sizes
    places: Mapping[str, ArrayPlace]


class Layout:
    """Collects places and calls before the memory exists; offsets count from the first array."""

    def __init__(self, problem: Problem, alignment: int) -> None:
        self.problem = problem
        self._alignment = alignment
        self._end = 0
        self._guards: list[int] = []
        self._calls: list[Call] = []

    def call(self, sizes: Sizes, *, aligned: bool = True) -> Call:
        """Reserve every array at `sizes`, between guard pages, and add the call over them.

        Arrays that are not `aligned` lie on a multiple of their element's size and of no more.
        """
        places = {arg.name: self._place(arg, sizes, aligned) for arg in self.problem.arrays}
        call = Call(len(self._calls), dict(sizes), places)
        self._calls.append(call)
        return call

    def _place(self, arg: Argument, sizes: Sizes, aligned: bool) -> ArrayPlace:
        shape, element = arg.dimensions(sizes), arg.dtype.itemsize
        nbytes = int(element * np.prod(shape, dtype=np.int64))
        first = self._end + PAGE
        last = first + _round_up(nbytes + self._alignment, PAGE)
        offset = (last - nbytes) // self._alignment * self._alignment
        if not aligned:
            odd = (last - nbytes) % (2 * element)
            offset = last - nbytes - (0 if odd else element)
        self._guards.append(self._end)
        self._end = last
        return ArrayPlace(arg.name, offset, arg.dtype, shape, first, last)

    def build(self) -> "SharedMemory":
        """Allocate the memory. Raises `ToolError` where the machine has too little."""
        return SharedMemory(self.problem, self._calls, [*self._guards, self._end], self._end + PAGE)


class SharedMemory:
    """The memory itself, as the judge sees it: nothing is write-protected on this side."""

    def __init__(
        self, problem: Problem, calls: Sequence[Call], guards: Sequence[int], nbytes: int
    ) -> None:
        self.problem, self._calls = problem, tuple(calls)
        word, end, places = np.dtype(np.uint64), ctypes.sizeof(Control), dict[str, slice]()
        tables = {
            "sequence": (np.dtype(np.uint32), MAX_BATCH),
            "parts": (PART, MAX_BATCH),
            "rows": (word, len(problem.slots) * len(calls)),
            "digests": (word, MAX_BATCH),
            "spans": (SPAN, MAX_SPANS),
            "guards": (word, len(guards)),
            "sealed": (SEALED, MAX_SEALED * (problem.metric == "device")),
        }
        for name, (kind, count) in tables.items():
            start = _round_up(end, PAGE if name == "sealed" else 64)
            end = start + count * kind.itemsize
            places[name] = slice(start, end)
        self._base, self.nbytes = end, end + nbytes
        self.fd, self._memory = _allocated(self.nbytes, problem.name)
        self.control = Control.from_buffer(self._memory)
        self._bytes = np.frombuffer(self._memory, np.uint8)
        self.sequence, self.parts, self._rows, self.digests, self.spans, around, self.sealed = (
            self._bytes[places[name]].view(kind) for name, (kind, _) in tables.items()
        )
        around[:] = np.asarray(guards, np.uint64) + np.uint64(self._base)
        self._head = Control(
            **{f"{name}_at": place.start for name, place in places.items()},
            **{"size": ctypes.sizeof(Control), "finished": 2**32 - 1, "bytes": self.nbytes},
            guards=len(guards),
        )
        each = (self._slot(arg, call) for call in calls for arg in problem.slots)
        self._known_rows = np.array(list(each), np.uint64)
        self._patterned: set[ArrayPlace] = set()

    def reset(self, nonce: int, defences: Defences) -> None:
        """Make ready for its worker: head and rows. Who calls it fills the outputs."""
        ctypes.memmove(ctypes.byref(self.control), ctypes.byref(self._head), ctypes.sizeof(Control))
        self.control.nonce = nonce
        self.control.flags = sum(flag for flag in Flag if getattr(defences, str(flag.name).lower()))
        if not defences.guards:
            self.control.guards = 0
        self._rows[:] = self._known_rows

    def view(self, place: ArrayPlace) -> Array:
        """The array at `place`, shared with the worker."""
        start = self._base + place.offset
        flat = self._bytes[start : start + place.nbytes].view(place.dtype)
        return flat.reshape(place.shape)

    def holds(self, place: ArrayPlace, array: Array) -> bool:
        """Whether the array at `place` equals `array` byte for byte."""
        return arrays.equal(self.raw(place), array)

    def span(self, place: ArrayPlace) -> tuple[int, int]:
        """First byte of the array with its gaps, from the start, and how many they are."""
        return self._base + place.first, place.last - place.first

    def sealed_span(self, entries: int) -> tuple[int, int]:
        """First byte of so many entries of `sealed`, and how many bytes they are."""
        return self._head.sealed_at, entries * SEALED.itemsize

    def raw(self, place: ArrayPlace) -> Array:
        return self.view(place).reshape(-1).view(np.uint8)

    def offset(self, place: ArrayPlace) -> int:
        """The array's first byte, from the shared memory's start."""
        return self._base + place.offset

    def fill(self, place: ArrayPlace, byte: int) -> None:
        arrays.fill(self.raw(place), byte)

    def set_canaries(self, place: ArrayPlace, *, pattern: bool) -> None:
        """Fill the gaps around an array: with CANARY, or so that any sum there shows."""
        (self._patterned.add if pattern else self._patterned.discard)(place)
        for gap, canary in zip(self._gaps(place), self._canaries(place), strict=True):
            gap[:] = canary

    def damage(self, place: ArrayPlace) -> str | None:
        """Damage outside the array, in words; None where its gaps are intact."""
        (before, after), (first, last) = self._gaps(place), self._canaries(place)
        hits = np.flatnonzero(before != first)
        if hits.size:
            return f"wrote {_gap(before.size - 1 - int(hits[-1]))}before the start of {place.name}"
        hits = np.flatnonzero(after != last)
        return f"wrote {_gap(int(hits[0]))}past the end of {place.name}" if hits.size else None

    def owner(self, offset: int) -> tuple[ArrayPlace, int] | None:
        """The array nearest to an offset, and its distance from the start of that."""
        offset -= self._base
        places = [place for call in self._calls for place in call.places.values()]
        near = [p for p in places if p.first - PAGE <= offset < p.last + PAGE]
        if not near:
            return None
        best = min(near, key=lambda p: min(abs(offset - p.offset), abs(offset - p.last)))
        return best, offset - best.offset

    def unmap(self) -> None:
        """Unmap this process's pages of the arrays until their next use; their content stays."""
        self._advise(mmap.MADV_DONTNEED)

    def release(self) -> None:
        """Free the memory of the arrays at once, whoever still maps it: they hold zeros after."""
        self._advise(mmap.MADV_REMOVE)

    def close(self) -> None:
        """Free the memory and the descriptor; the mapping goes with its last view."""
        self.release()
        os.close(self.fd)

    def _advise(self, advice: int) -> None:
        with contextlib.suppress(OSError):  # a kernel without it keeps them until the end
            self._memory.madvise(advice, self._base, self.nbytes - self._base)

    def _gaps(self, place: ArrayPlace) -> tuple[Array, Array]:
        start = self._base + place.offset
        before = self._bytes[self._base + place.first : start]
        return before, self._bytes[start + place.nbytes : self._base + place.last]

    @cached_property
    def _pattern(self) -> Array:
        """A pattern as long as the widest gap."""
        places = [place for call in self._calls for place in call.places.values()]
        widest = max((gap.size for place in places for gap in self._gaps(place)), default=0)
        # numbers from 1 to 2 as float32, moderate as float64, too: a sum changes them, unless it is
        # too small for the number, as it would not change NaN; an "or" does, as it would not -1
        words = np.random.default_rng().uniform(1, 2, _round_up(widest, 16) // 4)
        return words.astype(np.float32).view(np.uint8)

    def _canaries(self, place: ArrayPlace) -> tuple[Array | int, Array | int]:
        if place not in self._patterned:
            return CANARY, CANARY
        before, after = self._gaps(place)
        return self._pattern[self._pattern.size - before.size :], self._pattern[: after.size]

    def _slot(self, arg: Argument, call: Call) -> int:
        """An array's offset from the shared memory's start, or a scalar's bits."""
        if arg.is_array:
            return self._base + call.places[arg.name].offset
        bits = np.zeros(8, np.uint8)
        value = np.array([arg.scalar(call.sizes)], arg.dtype)
        bits[: value.itemsize] = value.view(np.uint8)
        return int(bits.view(np.uint64)[0])


def _allocated(nbytes: int, name: str) -> tuple[int, mmap.mmap]:
    """An anonymous file of this size, which nobody can shrink, and the memory in it."""
    descriptor = os.memfd_create("regraph", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.posix_fallocate(descriptor, 0, nbytes)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
        return descriptor, mmap.mmap(descriptor, nbytes)
    except OSError as error:
        os.close(descriptor)
        raise ToolError(
            f"shared memory: cannot allocate {nbytes / 2**20:.0f} MiB for problem"
            f" {name} ({error.strerror}); free memory or make its sizes smaller"
        ) from None


def _gap(distance: int) -> str:
    """A distance beyond an array in words; its next byte is "right" behind it."""
    return f"{distance} bytes " if distance else "right "


def _round_up(value: int, step: int) -> int:
    return -(-value // step) * step
