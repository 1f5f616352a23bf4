"""A judge without separation: everything the real one keeps apart, in one process.

    python naive.py SERIAL.so CANDIDATE.so

The reference lies in the candidate's memory, a crash is the judge's own, the verdict is a line on
stdout. What gets past this one and not past the real one is caught by the separation itself.
"""

import ctypes
import json
import sys

import numpy as np

N = 1000


def main(serial: str, candidate: str) -> None:
    """Print a verdict, if the candidate lets us."""
    x = np.random.default_rng(1).standard_normal(N).astype(np.float32)
    expected, count = call(serial, x)
    y, positive = call(candidate, x)
    right = np.allclose(y, expected, atol=1e-5) and positive == count
    print(json.dumps({"outcome": "passed" if right else "wrong_answer"}), flush=True)  # noqa: T201


def call(library: str, x: np.ndarray) -> tuple[np.ndarray, int]:
    """Both outputs of the entry point."""
    y, positive = np.full(N, np.nan, np.float32), np.full(1, -1, np.int32)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (x, y, positive)]
    ctypes.CDLL(library).smooth(*pointers, N)
    return y, int(positive[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
