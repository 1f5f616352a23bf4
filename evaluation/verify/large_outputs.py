"""Checks of one large output that need not all of it: sampled, by random vectors, as a sort.

Outputs above 4 MiB are compared at 2^19 secret places, of which a content's own secret says which,
and both ends. Of all others the sums of blocks are compared: 1,024 elements with secret signs,
integers times secret numbers. Of honest errors e_i, |e_i| <= t, such a sum is above 4 t sqrt(1024)
in one of 1,500 blocks (Hoeffding), and in none where they stay within t / 4, as they should
(calibrate.py). A problem may declare how outputs above 64 MiB are checked:

    random-indices   2^19 secret elements and both ends, against the full reference
    freivalds        C x against A (B x) for four secret vectors of signs, row by row
    sorted           ascending, and a keyed sum over its elements' bits equals the input's

Outputs with rows that count, or of any order (rows.py), are always compared whole.

Not covered: outside the sample, what is off by less than 128 tolerances in a block; structs there;
a product's element off by less than sqrt(columns) tolerances; floats that a sort changed between
-0 and +0 are reported as wrong.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from regraph_kg.evaluation.native import arrays
from regraph_kg.evaluation.problem.problem import Array, Problem, Sizes
from regraph_kg.evaluation.problem.types import parts, wide

LARGE_BYTES = 64 * 2**20  # bytes of a call's arrays above which a declared cheap check is used
_WHOLE_BYTES = 4 * 2**20  # outputs above this are compared by a sample
_SAMPLES, _ENDS = 2**19, 4096
"""Elements of a verified call: a series has two for each doubling of its batches, kept."""
_SPREAD = 4.0
_VECTORS = 4
_CHUNK = 2**18


def sample(size: int, seed: int) -> Array:
    """Flat indices to look at, ascending: 4,096 at both ends, and secret ones between.

    One of each of 2^19 parts, whose sizes differ by one at most: so none has to be sorted.
    """
    inner = size - 2 * _ENDS
    if inner <= _SAMPLES:
        return np.arange(size)
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
    declared = problem.cheap_check is not None and problem.nbytes(shape) > LARGE_BYTES
    results = [arg for arg in problem.results if not (arg.count or arg.order)]
    sizes = {arg.name: arg.elements(shape) for arg in results}
    types = {arg.name: arg.dtype.itemsize for arg in results}
    return {
        name: size for name, size in sizes.items() if declared or size * types[name] > _WHOLE_BYTES
    }


def is_checked(problem: Problem, sizes: Sizes) -> bool:
    """Whether a shape's output is checked in a way that takes no run of the reference."""
    check, is_large = problem.cheap_check, problem.nbytes(sizes) > LARGE_BYTES
    return check is not None and check.rule != "random-indices" and is_large


def keeper(problem: Problem, sizes: Sizes, seed: int) -> "Callable[[str, Array], KeptOutput]":
    """A function that copies the compared elements of each output of a shape."""
    if is_checked(problem, sizes):
        assert problem.cheap_check
        if problem.cheap_check.rule == "sorted":
            return lambda _, output: ordered(output, seed)
        return lambda _, output: Products(_times(output, _signs(output.shape[1], seed)))
    at = places(problem, sizes, seed)
    return lambda name, output: kept(output, at.get(name), seed)


def kept(output: Array, at: Array | None, seed: int) -> "Array | Sampled":
    """A copy of all elements, or of those at these flat indices with the sums of blocks."""
    if at is None:
        return output.copy()
    return Sampled(output.reshape(-1)[at], sums_of_blocks(output, seed))


@dataclass(frozen=True, slots=True)
class Sampled:
    """Some elements of an output, and the sum of each block of all of them."""

    elements: Array
    sums: Array


@dataclass(frozen=True, slots=True)
class Blocks:
    """Expected sums of an output's blocks, and by how much each may be off."""

    sums: Array
    allowed: Array
    seed: int

    def errors(self, output: "Array | Sampled") -> Array:
        """How far off each sum is, in what is allowed; 0 where the expected one is no number."""
        known = output.sums if isinstance(output, Sampled) else sums_of_blocks(output, self.seed)
        if known.dtype.kind != "f":
            return np.where(known == self.sums, 0.0, np.inf)
        with np.errstate(invalid="ignore", divide="ignore"):
            off = np.abs(known - self.sums)
            ratio = np.where(off == 0, 0.0, off / self.allowed)
        return np.where(np.isfinite(self.sums), np.nan_to_num(ratio, nan=np.inf), 0.0)

    def fault(self, name: str, output: "Array | Sampled") -> str | None:
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
    """Prepare for an output: how far moved inputs move its sums, and the sampled tolerances.

    What is larger than all that is sampled may be off by the same part of it.
    """
    widest = _SPREAD * float(np.max(tolerance, initial=0.0))
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


@dataclass(frozen=True, slots=True)
class Products:
    """An output's products with secret vectors."""

    rows: Array


@dataclass(frozen=True, slots=True)
class Ordered:
    """An output that is not ascending: where (words after its name), and what it sums to."""

    fault: str | None
    digest: int


KeptOutput = Array | Sampled | Products | Ordered  # what is compared of an output


@dataclass(frozen=True, slots=True)
class Product:
    """Expected products of C = A B with random vectors; `values` is A (B x), shape [m, 4], fp64."""

    vectors: Array
    values: Array
    allowed: float  # how much the sum of a row with random signs may be off

    def within(self, share: float) -> "Product":
        """The same, with this share of what is allowed."""
        return replace(self, allowed=share * self.allowed)

    def fault(self, name: str, output: KeptOutput) -> str | None:
        """The first row that is wrong, in words."""
        assert not isinstance(output, Ordered | Sampled)
        rows = output.rows if isinstance(output, Products) else _times(output, self.vectors)
        off = np.abs(rows - self.values).max(axis=1)
        bad = ~(off <= self.allowed)
        if not bad.any():
            return None
        row, count = int(np.argmax(bad)), int(np.count_nonzero(bad))
        return (
            f"{count} of {bad.size} rows of {name} are wrong, the first is row {row}: its sum with"
            f" random signs is off by {off[row]:.6g} (allowed {self.allowed:.3g})"
        )


def product(a: Array, b: Array, element: float, seed: int) -> Product:
    """Prepare for C = A B, shapes [m, k] and [k, n].

    `element` is the tolerance of an element of C relative to the RMS of C, which the row sums
    give: signs are independent, so the mean square of a row sum is n times that of an element.
    """
    vectors = _signs(b.shape[1], seed)
    rows = _times(a, _times(b, vectors))
    return Product(vectors, rows, element * float(np.sqrt(np.mean(rows**2))))


def _signs(columns: int, seed: int) -> Array:
    """Secret vectors of signs."""
    return 2.0 * np.random.default_rng(seed).integers(0, 2, (columns, _VECTORS)) - 1.0


@dataclass(frozen=True, slots=True)
class Arranged:
    """Properties of an input that its sorted arrangement must keep."""

    digest: int
    values: Array  # the smallest and the largest
    seed: int

    def within(self, share: float) -> "Arranged":
        """The same: nothing is allowed."""
        return self

    def fault(self, name: str, output: KeptOutput) -> str | None:
        """The first break of the order, or a change of the elements, in words."""
        assert not isinstance(output, Products | Sampled)
        order = output if isinstance(output, Ordered) else ordered(output, self.seed)
        if order.fault:
            return f"{name}{order.fault}"
        if order.digest != self.digest:
            return f"{name} is in order, but its elements are not those of the input"
        return None


def ordered(output: Array, seed: int) -> Ordered:
    """Order and digest of a sorted output."""
    flat = output.reshape(-1)
    at = arrays.descent(flat)
    if at < flat.size:
        return Ordered(f"[{at}] is {flat[at]}, the next is {flat[at + 1]}", 0)
    return Ordered(None, _digest(flat, seed))


def arranged(array: Array, seed: int) -> Arranged:
    """Prepare for a sort of `array`, any shape, in row-major order."""
    bounds = np.array([array.min(), array.max()])
    return Arranged(_digest(array.reshape(-1), seed), bounds, seed)


def _times(matrix: Array, vectors: Array) -> Array:
    """Product in fp64 without a copy of the whole matrix."""
    step = max(1, _CHUNK // matrix.shape[1])
    result = np.empty((matrix.shape[0], vectors.shape[1]))
    for start in range(0, matrix.shape[0], step):
        with np.errstate(invalid="ignore", over="ignore"):
            result[start : start + step] = matrix[start : start + step].astype(float) @ vectors
    return result


def _digest(flat: Array, seed: int) -> int:
    """A sum over the elements' bits, each scrambled: equal for equal multisets, in any order."""
    return arrays.multiset(flat.view(f"u{flat.itemsize}"), arrays.secret([seed]))
