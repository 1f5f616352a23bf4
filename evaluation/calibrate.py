"""Whether a problem's tolerance admits honest rounding and shows a lower precision.

Honest variants are the serial code itself, compiled in its own order (-O1, no contraction) and with
its sums reordered (-O3 -march=native -ffast-math). They must lie at least 4 times inside. The lower
variant is the reference on inputs rounded to fewer bits, or, without float inputs, its result
rounded so: 11 bits (fp16, tf32) below fp32, 4 bits (fp8) below those. At every shape it must lie at
least 4 times outside for some distribution, or the problem declares `separates = false`. A shape
where fewer bits change nothing does not count. The timing shape is looked at up to 16 MiB, with the
inputs that timed calls have.

Not covered: fp16's range; intermediates that only a candidate rounds; fp16 sums of a problem with
precision fp16, whose honest variant adds rounded inputs in fp32.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.covering import check_shapes
from regraph_kg.evaluation.diagnose import Expected, Truth
from regraph_kg.evaluation.inputs import factors, variant_of
from regraph_kg.evaluation.problem import Problem, Sizes
from regraph_kg.evaluation.reference import Case, References, Runner
from regraph_kg.evaluation.rewrite import to_double
from regraph_kg.evaluation.rules import Defences, Failure, Limits
from regraph_kg.evaluation.spawn import Program

Array = NDArray[Any]

MARGIN = 4.0
"""How many times inside and outside the tolerance variants must lie."""
_ORDERS = (
    ("-std=c++17", "-O1", "-ffp-contract=off"),
    ("-std=c++17", "-O3", "-march=native", "-ffast-math"),
)
_HALF_BITS, _EIGHTH_BITS = 11, 4


@dataclass(frozen=True, slots=True)
class Calibration:
    """Errors of variants, in tolerances."""

    honest: float
    """The largest."""
    lower: float
    """The largest at the shape where it is hardest to see."""

    @property
    def admits(self) -> bool:
        """Whether honest rounding has room."""
        return self.honest * MARGIN <= 1

    @property
    def separates(self) -> bool:
        """Whether a lower precision shows."""
        return self.lower >= MARGIN

    def advice(self, problem: Problem) -> str | None:
        """What problem.toml should say instead, in one line; None where it is true."""
        lower = "fp16" if problem.precision == "fp32" else "fp8"
        if not self.admits:
            return (
                f"tolerance: the serial code's own rounding takes {self.honest:.2g} of it, 0.25 is"
                ' safe; declare the operations in a row: { rule = "conditioned", terms = ... }'
            )
        if self.separates == problem.separates:
            return None
        truth = str(self.separates).lower()
        return f"separates = {truth}: {lower} inputs err by {self.lower:.2g} tolerances"


def calibrate(
    problem: Problem, compiler: Compiler, limits: Limits | None = None, seed: int = 1
) -> Calibration:
    """Measure both margins; takes seconds. Raises `BadInput` for a bad problem."""
    limits = limits or Limits()
    shapes = check_shapes(problem, seed, Defences())
    reference = _program(problem.promoted(), compiler, _reference_code(problem), HOST_FLAGS)
    honest, lower = 0.0, list[float]()
    with ExitStack() as stack:
        references = References(problem, reference, shapes, limits)
        stack.enter_context(closing(references))
        orders = [_order(problem, compiler, flags, shapes, limits) for flags in _ORDERS]
        for run in orders:
            stack.enter_context(closing(run))
        for sizes in shapes:
            cases = _cases(problem, sizes, seed)
            honest = max(honest, *(_honest(problem, references, orders, case) for case in cases))
            lower.append(max(_lower(problem, references, case) for case in cases))
    return Calibration(honest, min(filter(None, lower), default=0.0))


def _cases(problem: Problem, sizes: Sizes, seed: int) -> list[Case]:
    """Each distribution of each argument once; at the timing shape the timed one."""
    counts = factors(problem)
    rounds = 1 if sizes == problem.sizes.time else max(counts, default=1)
    places = ([turn % count for count in counts] for turn in range(rounds))
    return [Case(sizes, variant_of(problem, place), seed) for place in places]


def _honest(
    problem: Problem, references: References, orders: Sequence[Runner], case: Case
) -> float:
    """Largest error of the serial code in its orders."""
    given = references.given(case)
    if problem.precision != "fp32":
        given = {name: rounded(array, _HALF_BITS) for name, array in given.items()}
    truths = references.truths(case)
    return max(_worst(run(case.sizes, given), truths) for run in orders)


def rounded(array: Array, bits: int) -> Array:
    """Floats rounded to `bits` significant bits, to nearest, with the range of their own type."""
    if array.dtype.kind != "f":
        return array
    mantissa, exponent = np.frexp(array)
    return np.ldexp(np.rint(mantissa * 2.0**bits) / 2.0**bits, exponent).astype(array.dtype)


def _lower(problem: Problem, references: References, case: Case) -> float:
    """Largest error from rounded inputs, else of rounded outputs; whole numbers do not round."""
    if not any(arg.type.startswith("float") for arg in problem.outputs):
        return math.inf
    bits = _HALF_BITS if problem.precision == "fp32" else _EIGHTH_BITS
    given, truths = references.given(case), references.truths(case)
    if any(array.dtype.kind == "f" for array in given.values()):
        fewer = {name: rounded(array, bits) for name, array in given.items()}
        return _worst(references.run(case, fewer), truths)
    right = references.run(case, given)
    return _worst({name: rounded(array, bits) for name, array in right.items()}, truths)


def _worst(outputs: Mapping[str, Array], truths: Mapping[str, Expected]) -> float:
    """Largest error of finite floats in tolerances; infinite where none is allowed."""
    worst = 0.0
    for name, truth in truths.items():
        if isinstance(truth, Truth) and truth.values.dtype.kind == "f":
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                off = np.abs(outputs[name].astype(np.float64) - truth.values)
                ratio = np.where(off == 0, 0.0, off / truth.tolerance)
            worst = max(worst, float(np.max(ratio[np.isfinite(truth.values)], initial=0.0)))
        elif isinstance(truth, Truth):
            worst = max(worst, math.inf if np.any(outputs[name] != truth.values) else 0.0)
    return worst


def _reference_code(problem: Problem) -> str:
    own = problem.reference_code
    return to_double(problem.serial_code) if own is None else own


def _order(
    problem: Problem,
    compiler: Compiler,
    flags: tuple[str, ...],
    shapes: list[Sizes],
    limits: Limits,
) -> Runner:
    program = _program(problem, compiler, problem.serial_code, flags)
    return Runner(problem, program, shapes, limits, f"serial.cpp with {flags[-1]}")


def _program(problem: Problem, compiler: Compiler, code: str, flags: tuple[str, ...]) -> Program:
    built = compiler.host(code, flags)
    if isinstance(built, Failure):
        first = built.diagnosis.splitlines()[0] if built.diagnosis else "no message"
        raise BadInput(f"problem {problem.name}: does not compile: {first}")
    return Program(compiler.harness(problem), built, problem.entry)
