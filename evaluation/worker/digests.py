"""Metric "device": what a batch's outputs were when its last call was over.

A GPU works on while its process stands still, and outputs are copied from it later: work could be
put off until the clock has stopped. Therefore the harness publishes a digest of each call's outputs
before it says that the batch is done (harness/ready.cu), under the batch's key. What is verified
must have the same one.

Not covered: metric "call", where a GPU may write to host memory that the candidate has registered;
and who makes the bits that tolerances leave free fit a digest, within the time that is not counted.
"""

from collections.abc import Iterable

import numpy as np

from regraph_kg.evaluation.problem.problem import Array

_GOLDEN, _MIXING = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_CHUNK_WORDS = 2**15
"""Taken at once: what stays in a core's cache."""


def digest(outputs: Iterable[Array], key: tuple[int, int]) -> int:
    """The digest of one call's outputs, each an array of bytes; as harness/ready.cu takes it."""
    return sum(_digest(output, key) for output in outputs) % 2**64


def _digest(output: Array, key: tuple[int, int]) -> int:
    whole = output.size // 8
    rest = np.zeros(-(-(output.size % 8) // 8), np.uint64)
    rest.view(np.uint8)[: output.size % 8] = output[8 * whole :]
    words, total = output[: 8 * whole].view(np.uint64), _mixed(rest, whole, key)
    for start in range(0, whole, _CHUNK_WORDS):
        total += _mixed(words[start : start + _CHUNK_WORDS], start, key)
    return total


def _mixed(words: Array, first: int, key: tuple[int, int]) -> int:
    """The sum over words, of which this is the number of the first."""
    x = words + np.uint64(key[0])
    x ^= np.arange(first, first + words.size, dtype=np.uint64) * _GOLDEN
    x *= np.uint64(key[1] | 1)
    x ^= x >> np.uint64(32)
    x *= _MIXING
    x ^= x >> np.uint64(29)
    return int(np.sum(x, dtype=np.uint64))
