"""Protocol of judge and worker: numbered commands in shared memory, futexes, a stopwatch."""

import ctypes
import functools
import platform
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

import numpy as np

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.problem.types import Array
from regraph_kg.evaluation.worker.shared_memory import Control, Key

_FUTEX_CALL = {"x86_64": 202, "aarch64": 98}
_SPIN_SECONDS = 0.02
NO_STEPS: Array = np.zeros(0)
MOVED: Array = np.full(1, np.nan)  # not the steps of a harness alone
_SEEN, _MISSED = 0, 1  # what the stopwatch says of the steps (clock.cpp)


class Operation(IntEnum):
    """Commands of the harness (harness.cpp)."""

    CALLS = 1
    UPLOAD = 2
    DOWNLOAD = 3
    SETTLE = 4
    EXIT = 5
    LOAD = 6
    GHOST = 7
    SWEEPS = 8
    PROFILE = 9


_STEPPING = (Operation.CALLS, Operation.SWEEPS)  # they make a step, and two a call


@dataclass(frozen=True, slots=True)
class Elapsed:
    """Seconds of one command: by the judge's clock, by the worker's own."""

    ours: float  # seconds of the calls, less an empty batch and what readying them takes
    own: float  # seconds of the calls alone
    aside: float = 0.0  # what getting calls ready took
    steps: Array = field(default_factory=lambda: NO_STEPS, compare=False)
    """With a stopwatch that missed none: what passed until the first call was made ready, until it
    began, until it was over, until the next one began, .., until the command was done."""
    is_whole: bool = False  # whether too much passed between the calls, so that it counts as theirs
    is_short: bool = False  # whether the calls took less than what is taken off may be off by


class Stopwatch:
    """Gives a command and watches for its end without sleeping (harness/clock.cpp)."""

    # precise to a microsecond or two, at the price of a core: for a machine that has one to spare

    def __init__(self, library: Path) -> None:
        self._round_trip = ctypes.CDLL(str(library)).regraph_round_trip
        self._round_trip.restype = ctypes.c_uint64
        self._round_trip.argtypes = (
            *(5 * (ctypes.c_void_p,)),
            *(ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64),
        )

    def give(
        self, control: Control, number: int, expected: int, key: tuple[int, int] = (0, 0)
    ) -> tuple[float, Array]:
        """Give command `number` and the key to its inputs: seconds until it ended; its steps."""
        calls = control.count if control.operation in _STEPPING else 0
        most = 2 * calls + bool(calls)
        stamps, control.steps = np.zeros(most + 1, np.uint64), 0
        passed: int = self._round_trip(
            *(_word(control, name) for name in ("command", "done", "steps", "key")),
            *(Key(*key), number, expected, int(_SPIN_SECONDS * 1e9)),
            *(stamps.ctypes.data, most),
        )
        said, stamps[most] = stamps[most], passed
        if not most or said == _MISSED:
            return passed * 1e-9, NO_STEPS
        return passed * 1e-9, np.diff(stamps, prepend=0) * 1e-9 if said == _SEEN else MOVED


def sleep(control: Control, word: str, value: int, seconds: float) -> None:
    """Sleep while the word of shared memory has this value, at most so long."""
    whole = int(seconds)
    timeout = struct.pack("@ll", whole, int((seconds - whole) * 1e9))
    _futex()(_word(control, word), 0, ctypes.c_uint32(value % 2**32), timeout, None, 0)


def wake(control: Control, word: str) -> None:
    """Wake whoever sleeps on the word."""
    _futex()(_word(control, word), 1, ctypes.c_uint32(2**31 - 1), None, None, 0)


def _word(control: Control, name: str) -> ctypes.c_void_p:
    return ctypes.c_void_p(ctypes.addressof(control) + getattr(Control, name).offset)


@functools.cache
def _futex() -> Callable[..., int]:
    number = _FUTEX_CALL.get(platform.machine())
    if number is None:
        raise ToolError(f"worker: no support for {platform.machine()}; use x86_64 or aarch64 Linux")
    return functools.partial(ctypes.CDLL(None).syscall, number)
