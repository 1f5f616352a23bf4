"""A judge without separation: everything the real one keeps apart, in one process.

    python naive.py SERIAL.so CANDIDATE.so

The reference lies in the candidate's memory, on the device too, where it is freed before the
candidate runs; inputs come from a seed that everybody uses; a crash is the judge's own, the verdict
is a line on stdout. What gets past this one and not past the real one is caught by the separation
itself.
"""

import ctypes
import json
import sys

import numpy as np

N = 1000
_UPLOAD = 1


def inputs() -> np.ndarray:
    """What every candidate is tried with."""
    return np.random.default_rng(1).standard_normal(N).astype(np.float32)


def smooth(x: np.ndarray) -> tuple[np.ndarray, int]:
    """The problem "smooth" in numpy: both outputs."""
    y = np.zeros_like(x)
    y[1:-1] = 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]
    return y, int((x > 0).sum())


def main(serial: str, candidate: str) -> None:
    """Print a verdict, if the candidate lets us."""
    x = inputs()
    expected, count = call(ctypes.CDLL(serial), x)
    library = ctypes.CDLL(candidate)
    if hasattr(library, "regraph_wraps"):
        forget_guards(library)
        leave_on_device(library, expected)
    y, positive = call(library, x)
    right = np.allclose(y, expected, atol=1e-5) and positive == count
    print(json.dumps({"outcome": "passed" if right else "wrong_answer"}), flush=True)  # noqa: T201


def call(library: ctypes.CDLL, x: np.ndarray) -> tuple[np.ndarray, int]:
    """Both outputs of the entry point."""
    y, positive = np.full(N, np.nan, np.float32), np.full(1, -1, np.int32)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (x, y, positive)]
    library.smooth(*pointers, N)
    return y, int(positive[0])


def forget_guards(library: ctypes.CDLL) -> None:
    """Switch off what wraps.cpp adds to device allocations: poison and guards, its first fields."""
    (ctypes.c_int * 2).in_dll(library, "regraph_wraps")[:] = [0, 0]


def leave_on_device(library: ctypes.CDLL, expected: np.ndarray) -> None:
    """As a reference that ran on the device leaves it: copied into memory that is then freed.

    The other allocation stays, else the driver would take the freed page back.
    """
    stays, freed = ctypes.c_void_p(), ctypes.c_void_p()
    for memory in (stays, freed):
        library.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(expected.nbytes))
    source = ctypes.c_void_p(expected.ctypes.data)
    library.cudaMemcpy(freed, source, ctypes.c_size_t(expected.nbytes), _UPLOAD)
    library.cudaFree(freed)


if __name__ == "__main__":
    main(*sys.argv[1:])
