"""The judge's half of metric "device", compiled: masks of inputs, digests of outputs (seal.cpp)."""

import ctypes
from collections.abc import Iterable
from pathlib import Path

from regraph_kg.evaluation.problem.problem import Array

BLOCK_BYTES = 32  # a block of the keystream: Philox 4x64-10, numpy's own
Secret = tuple[int, int]  # a key, of 128 bits


class Cipher:
    """Masks and digests as harness/ready.cu opens and takes them."""

    def __init__(self, library: Path) -> None:
        loaded = ctypes.CDLL(str(library))
        where, word = ctypes.c_void_p, ctypes.c_uint64
        self._mask, self._digest = loaded.regraph_mask, loaded.regraph_digest
        self._mask.argtypes, self._mask.restype = (where, where, word, word, word, word), None
        self._digest.argtypes, self._digest.restype = (where, word, word, word), word

    def mask(self, plain: Array, masked: Array, block: int, key: Secret) -> None:
        """Write an array masked, from this block of the keystream on, into as many bytes."""
        assert masked.nbytes == plain.nbytes
        assert plain.flags.c_contiguous
        assert masked.flags.c_contiguous
        self._mask(plain.ctypes.data, masked.ctypes.data, plain.nbytes, block, *key)

    def digest(self, outputs: Iterable[Array], key: Secret) -> int:
        """The digest of one call's outputs, each an array of bytes.

        A GPU works on while its process stands still, and outputs are copied from it later: work
        could be put off until the clock has stopped. Therefore the harness publishes a digest of
        each call's outputs before it says that the batch is done, under the batch's key. What is
        verified must have the same one.

        Not covered: metric "call", where a GPU may write to host memory that the candidate has
        registered; and who makes the bits that tolerances leave free fit a digest, within the time
        that is not counted.
        """
        return sum(self._of_one(output, key) for output in outputs) % 2**64

    def _of_one(self, output: Array, key: Secret) -> int:
        assert output.flags.c_contiguous
        return int(self._digest(output.ctypes.data, output.nbytes, *key))
