"""Checks of one large output that need not all of it: a sample, and sums of blocks.

Outputs above 4 MiB are compared at 2^19 secret places and both ends. Of all others the sums of
blocks are compared: 1,024 elements with secret signs, integers times secret numbers. Of honest
errors e_i, |e_i| <= t, such a sum is above 4 t sqrt(1024) in one of 1,500 blocks (Hoeffding), and
in none where they stay within t / 4, as they should (calibrate.py).

Not covered: outside the sample, what is off by less than 128 tolerances in a block; structs there.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from regraph_kg.evaluation.native import arrays
from regraph_kg.evaluation.problem.declaration import Sizes
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.types import Array, parts, wide

_WHOLE_BYTES = 4 * 2**20  # outputs above this are compared by a sample
_SAMPLES, _ENDS = 2**19, 4096
"""Elements of a verified call: a series has two for each doubling of its batches, kept."""
_SPREAD = 4.0


def sample(size: int, seed: int) -> Array:
    """Flat indices to look at, ascending: 4,096 at both ends, and secret ones between."""
    inner = size - 2 * _ENDS
    if inner <= _SAMPLES:
        return np.arange(size)
    # One of each of 2^19 parts, whose sizes differ by one at most: so none has to be sorted.
    edges = _ENDS + np.arange(_SAMPLES + 1) * inner // _SAMPLES
    drawn = (np.random.default_rng(seed).random(_SAMPLES) * np.diff(edges)).astype(np.int64)
    ends = np.arange(_ENDS)
    return np.concatenate([ends, edges[:-1] + drawn, edges[-1] + ends])


def places(problem: Problem, sizes: Sizes, seed: int) -> dict[str, Array]:
    """Sampled places of the large outputs of a shape, by name."""
    return {name: sample(size, seed) for name, size in _sampled(problem, sizes).items()}


def thinning(problem: Problem) -> int:
    """The largest ratio of elements to sampled elements of an output of the timing shape."""
    sizes = _sampled(problem, problem.sizes.time).values()
    return max((-(-size // _SAMPLES) for size in sizes), default=1)


def _sampled(problem: Problem, shape: Sizes) -> dict[str, int]:
    """Size of each output of which a sample is compared."""
    large = (a for a in problem.results if not a.count and a.nbytes(shape) > _WHOLE_BYTES)
    return {arg.name: arg.elements(shape) for arg in large}


def keeper(problem: Problem, sizes: Sizes, seed: int) -> "Callable[[str, Array], KeptOutput]":
    """A function that copies the compared elements of each output of a shape."""
    at = places(problem, sizes, seed)
    return lambda name, output: kept(output, at.get(name), seed)


def kept(output: Array, at: Array | None, seed: int) -> "KeptOutput":
    """A copy of all elements, or of those at these flat indices with the sums of blocks."""
    if at is None:
        return output.copy()
    return Sampled(output.reshape(-1)[at], sums_of_blocks(output, seed))


@dataclass(frozen=True, slots=True)
class Sampled:
    """Some elements of an output, and the sum of each block of all of them."""

    elements: Array
    sums: Array


KeptOutput = Array | Sampled  # what is compared of an output


@dataclass(frozen=True, slots=True)
class Blocks:
    """Expected sums of an output's blocks, and by how much each may be off."""

    sums: Array
    allowed: Array
    seed: int

    def errors(self, output: KeptOutput) -> Array:
        """How far off each sum is, in what is allowed; 0 where the expected one is no number."""
        known = output.sums if isinstance(output, Sampled) else sums_of_blocks(output, self.seed)
        if known.dtype.kind != "f":
            return np.where(known == self.sums, 0.0, np.inf)
        with np.errstate(invalid="ignore", divide="ignore"):
            off = np.abs(known - self.sums)
            ratio = np.where(off == 0, 0.0, off / self.allowed)
        return np.where(np.isfinite(self.sums), np.nan_to_num(ratio, nan=np.inf), 0.0)

    def fault(self, name: str, output: KeptOutput) -> str | None:
        """The first block that is wrong, in words."""
        bad = self.errors(output) > 1
        if not bad.any():
            return None
        first, count = int(np.argmax(bad)), int(np.count_nonzero(bad))
        return (
            f"{name}: {count} of {bad.size} blocks of {arrays.BLOCK} numbers are wrong, the first"
            f" is block {first}: its sum with random weights is not the expected one"
        )


def blocks(truth: Sampled, deviation: Array, tolerance: Array | float, seed: int) -> Blocks:
    """Prepare for an output: how far moved inputs move its sums, and the sampled tolerances."""
    widest = _SPREAD * float(np.max(tolerance, initial=0.0))
    # What is larger than all that is sampled may be off by the same part of it.
    largest = float(np.max(np.abs(truth.elements), initial=0.0)) or 1.0
    with np.errstate(invalid="ignore"):
        near = widest * (arrays.BLOCK**0.5 + np.abs(wide(truth.sums)) / largest)
    return Blocks(truth.sums, near + deviation, seed)


def sums_of_blocks(output: Array, seed: int) -> Array:
    """Sum of each 1,024 elements with secret weights; none of structs."""
    if output.dtype.names:
        return np.zeros(0)
    flat, rng = parts(output), np.random.default_rng(seed)
    if flat.dtype.kind == "f":
        return arrays.sums(flat, 2.0 * rng.integers(0, 2, arrays.BLOCK) - 1.0)
    odd = rng.integers(0, 2**63, arrays.BLOCK, dtype=np.uint64) << np.uint64(1) | np.uint64(1)
    return arrays.sums(flat.view(f"u{flat.itemsize}"), odd)
