"""Work on whole arrays: compiled code, on every core that the calling thread may use (arrays.cpp).

What needs an affinity (`pinned`) keeps it: threads are counted anew in each call. The library is
compiled when it is first used, by the compiler that was made last in this process (`offer`).
"""

import ctypes
import functools
import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Key = ctypes.c_uint64 * 2
Secret = tuple[int, int]  # a key, of 128 bits
Kind = Literal["uniform", "normal", "sparse", "large-range", "small-int", "sorted"]

BLOCK = 1024  # elements of a sum
STREAM_BYTES = 32  # a block of the keystream: Philox 4x64-10, numpy's own
_KINDS = {"uniform": 0, "normal": 1, "sparse": 2, "large-range": 3, "small-int": 4, "sorted": 5}
_TYPES = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
_WORD, _PLACE, _INT, _DOUBLE = ctypes.c_uint64, ctypes.c_void_p, ctypes.c_int, ctypes.c_double
_FUNCTIONS = {
    "draw": (None, _PLACE, _INT, _WORD, _PLACE),
    "move": (None, _PLACE, _INT, _WORD, _DOUBLE, _PLACE),
    "widen": (None, _PLACE, _INT, _WORD, _PLACE),
    "copy": (None, _PLACE, _PLACE, _WORD),
    "fill": (None, _PLACE, _WORD, _INT),
    "equal": (_INT, _PLACE, _PLACE, _WORD),
    "wrong": (_WORD, _PLACE, _INT, _PLACE, _PLACE, _INT, _INT, _WORD, _PLACE),
    "sums": (None, _PLACE, _INT, _WORD, _PLACE, _PLACE),
    "mask": (None, _PLACE, _PLACE, _WORD, _WORD, _PLACE),
    "digest": (_WORD, _PLACE, _WORD, _PLACE),
}
"""What the library has, without `regraph_`: the type of its answer, those of what it takes."""
_build: list[Callable[[], Path]] = []


class Drawing(ctypes.Structure):
    """How to draw; field for field the `Drawing` of arrays.cpp, which says what each means."""

    _fields_ = (
        ("key", Key),
        *((name, _DOUBLE) for name in ("low", "high", "mean", "spread", "least", "most")),
        *((name, _WORD) for name in ("start", "range", "rest")),
        ("kind", ctypes.c_int32),
        ("wide", ctypes.c_int32),
    )


def offer(build: Callable[[], Path]) -> None:
    """Let the library be built by this, once it is needed."""
    _build[:] = [build]


@functools.cache
def _library() -> ctypes.CDLL:
    assert _build, "a Compiler comes before arrays are drawn or compared"
    library = ctypes.CDLL(str(_build[0]()))
    for name, (answer, *takes) in _FUNCTIONS.items():
        function = getattr(library, f"regraph_{name}")
        function.restype, function.argtypes = answer, takes
    return library


def secret(seed: Sequence[int]) -> Secret:
    """A key that depends on each number of a seed."""
    digest = hashlib.sha256(repr(list(seed)).encode()).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little")


def draw(to: Array, kind: Kind, key: Secret, narrow: str = "", **limits: float) -> None:
    """Fill an array, floats as those of a type that is narrower (`narrow`, "f4").

    `limits` are fields of `Drawing`. The same key gives the same numbers on any count of cores.
    """
    whole = {name: int(limits.pop(name, 0)) % 2**64 for name in ("start", "range", "rest")}
    is_wide = bool(narrow) and to.dtype.str[1:] != narrow
    how = Drawing(key, kind=_KINDS[kind], wide=is_wide, **limits, **whole)
    made = to if to.flags.c_contiguous else np.empty(to.shape, to.dtype)
    number = _TYPES.index(narrow or to.dtype.str[1:])
    _library().regraph_draw(made.ctypes.data, number, made.size, ctypes.addressof(how))
    if made is not to:  # a field of structs
        to[...] = made


def move(values: Array, eps: float, key: Secret) -> None:
    """Multiply each float by 1 + `eps` or 1 - `eps`, in place, by chance."""
    flat = values if values.flags.c_contiguous else np.ascontiguousarray(values)
    _library().regraph_move(*_numbers(flat), eps, Key(*key))
    if flat is not values:
        values[...] = flat


def copy(source: Array, to: Array) -> None:
    """Copy, or widen floats to fp64; of one shape."""
    if not (source.flags.c_contiguous and to.flags.c_contiguous and source.size == to.size):
        to[...] = source
    elif source.dtype == to.dtype:
        _library().regraph_copy(source.ctypes.data, to.ctypes.data, source.nbytes)
    elif (source.dtype.kind, to.dtype.str[1:]) == ("f", "f8"):
        _library().regraph_widen(*_numbers(source), to.ctypes.data)
    else:
        to[...] = source


def fill(to: Array, byte: int) -> None:
    assert to.flags.c_contiguous
    _library().regraph_fill(to.ctypes.data, to.nbytes, byte)


def equal(one: Array, other: Array) -> bool:
    """Whether two arrays are the same, byte for byte."""
    one, other = np.ascontiguousarray(one), np.ascontiguousarray(other)
    if one.nbytes != other.nbytes:
        return False
    return bool(_library().regraph_equal(one.ctypes.data, other.ctypes.data, one.nbytes))


def wrong(output: Array, truth: Array, tolerance: Array | float, *, nan_fails: bool) -> Array:
    """Mask of floats that are off by more than the tolerance; what is not finite must be the same.

    `truth` is of fp64. NaN is off, unless the truth has it; without `nan_fails` it is not.
    """
    output, truth = np.ascontiguousarray(output), np.ascontiguousarray(truth, np.float64)
    allowed = np.asarray(tolerance, np.float64)
    if allowed.ndim:
        allowed = np.ascontiguousarray(np.broadcast_to(allowed, truth.shape))
    marks = np.empty(output.shape, bool)
    number, size = _TYPES.index(output.dtype.str[1:]), output.size
    places = (truth.ctypes.data, allowed.ctypes.data, not allowed.ndim, nan_fails)
    _library().regraph_wrong(output.ctypes.data, number, *places, size, marks.ctypes.data)
    return marks


def sums(values: Array, weights: Array) -> Array:
    """Sum of each `BLOCK` elements with weights: fp64; of integers uint64, which wraps around."""
    result = np.empty(-(-values.size // BLOCK), weights.dtype)
    numbers = _numbers(np.ascontiguousarray(values))
    _library().regraph_sums(*numbers, weights.ctypes.data, result.ctypes.data)
    return result


def mask(plain: Array, masked: Array, block: int, key: Secret) -> None:
    """Write an array masked, from this block of the keystream on, into as many bytes."""
    assert masked.nbytes == plain.nbytes
    assert plain.flags.c_contiguous
    assert masked.flags.c_contiguous
    places = plain.ctypes.data, masked.ctypes.data
    _library().regraph_mask(*places, plain.nbytes, block, Key(*key))


def digest(outputs: Iterable[Array], key: Secret) -> int:
    """The digest of one call's outputs, as harness/seal.h has it."""
    parts = [np.ascontiguousarray(output) for output in outputs]
    take = _library().regraph_digest
    taken = [int(take(each.ctypes.data, each.nbytes, Key(*key))) for each in parts]
    return sum(taken) % 2**64


def _numbers(array: Array) -> tuple[int, int, int]:
    """Where an array lies, the number of its type, how many elements it has."""
    assert array.flags.c_contiguous
    return array.ctypes.data, _TYPES.index(array.dtype.str[1:]), array.size
