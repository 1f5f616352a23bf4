"""Whether a problem's tolerance admits honest rounding and shows a lower precision.

Honest variants are the serial code itself: as it is judged (-O3 -march=native), in its own order
(-O1, no contraction), with its sums reordered (-ffast-math) and, where floats are fp64, with sums
in long double. They must lie at least 4 times inside. The lower variant is the reference on inputs
rounded to fewer bits (`lower_bits`), or, without float inputs, its result rounded so. At every
shape it must lie at least 4 times outside for some distribution, or the problem declares
`separates = false`. A shape where fewer bits change nothing does not count. At the timing shape
honest variants run too: where the problem is in fp64, its reference adds in the serial code's own
order and precision, and other orders of adding differ from it. A sum on which all outputs depend
may be near by chance: several inputs are looked at.

Not covered: fp16's range; intermediates that only a candidate rounds; fp16 sums of a problem with
precision fp16, whose honest variant adds rounded inputs in fp32.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.machine import trusted
from regraph_kg.evaluation.problem.declaration import Sizes, TermsRule, shape_text
from regraph_kg.evaluation.problem.inputs import describe, factors, variant_of
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.rewrite import with_long_sums
from regraph_kg.evaluation.problem.types import Array, is_inexact, is_rounded, parts, wide
from regraph_kg.evaluation.rules import Defences, Failure, JudgeLimits
from regraph_kg.evaluation.verify.cases import check_shapes
from regraph_kg.evaluation.verify.large_outputs import KeptOutput, keeper
from regraph_kg.evaluation.verify.outputs import ExpectedOutput, fault, mismatch
from regraph_kg.evaluation.verify.reference import Case, References
from regraph_kg.evaluation.verify.tolerance import tolerance
from regraph_kg.evaluation.worker.runner import Fill, Runner
from regraph_kg.evaluation.worker.shared_memory import POISON

MARGIN = 4.0  # how many times inside and outside the tolerance variants must lie
_ORDERS = (
    ("-std=c++17", "-O1", "-ffp-contract=off"),
    ("-std=c++17", "-O3", "-march=native", "-ffast-math", "-fno-finite-math-only"),
)
_SINGLE_BITS, _HALF_BITS, _EIGHTH_BITS = 24, 11, 4
_LOOKS, _FEW_OUTPUTS, _QUICK_SECONDS = 4, 1024, 0.1
"""Inputs of the timing shape of an fp64 problem with few elements of output, or that is quick."""
_SECRETS = 4  # secret shapes of a problem with several sizes: a judge's may be one of many


@dataclass(slots=True)
class Calibration:
    """Errors of variants, in tolerances."""

    honest: float = 0.0  # the largest of the serial code in any order
    lower: float = 0.0  # the largest at the shape where it is hardest to see
    own: float = 0.0  # the largest of the serial code as it is judged
    where: str = ""  # shape and distributions of that
    wrong: str = ""  # what is wrong there, where it is above 1
    terms: float = 0.0  # operations whose rounding would put each honest variant four times inside
    off: float = 0.0  # largest absolute error of an honest variant
    serial_seconds: float = 0.0  # a call of the serial code at the timing shape; the shorter of two

    @property
    def admits(self) -> bool:
        """Whether honest rounding has room."""
        return self.honest * MARGIN <= 1

    @property
    def separates(self) -> bool:
        """Whether a lower precision shows."""
        return self.lower >= MARGIN


class Trials(ExitStack):
    """A problem's serial code in its orders, and its reference, open. Raises `BadInput`."""

    def __init__(
        self, problem: Problem, compiler: Compiler, limits: JudgeLimits | None = None, seed: int = 1
    ) -> None:
        super().__init__()
        limits = limits or JudgeLimits()
        self.problem, self.seed = problem, seed
        self.shapes = list[Sizes]()  # the judge's, more secret ones where sizes may be related
        for more in range(_SECRETS if len(problem.sizes.time) > 1 else 1):
            shapes = check_shapes(problem, seed + more, Defences())
            self.shapes += [sizes for sizes in shapes if sizes not in self.shapes]
        every = [*self.shapes, problem.sizes.time]
        reference = trusted(compiler, problem.promoted(), problem.truth_name, problem.truth_code)
        with ExitStack() as stack:
            serial = trusted(compiler, problem, "serial.cpp", problem.serial_code)
            self.references = References(problem, reference, every, limits, serial=serial)
            stack.enter_context(closing(self.references))
            codes = [(problem.serial_code, flags) for flags in (HOST_FLAGS, *_ORDERS)]
            # for fp64, code whose difference is the serial code's own rounding, of a scan as well
            long = with_long_sums(problem.serial_code)
            is_wide = lower_bits(problem) == _SINGLE_BITS and long != problem.serial_code
            if is_wide and not isinstance(compiler.host(long, HOST_FLAGS), Failure):
                codes.append((long, HOST_FLAGS))
            self.orders = list[Runner]()
            for code, flags in codes:
                name = "serial.cpp" + (f" with {' '.join(flags[1:])}" if flags in _ORDERS else "")
                program = trusted(compiler, problem, name, code, flags)
                order = Runner(problem, program, every, limits, name)
                order.poison = POISON  # as the judge does: what is never written must show here
                self.orders.append(stack.enter_context(closing(order)))
            self.push(stack.pop_all())

    @cached_property
    def calibration(self) -> Calibration:
        """Both margins, and the serial code's time."""
        problem, serial = self.problem, self.orders[0]
        result, lower = Calibration(), list[float]()
        for sizes in self.shapes:
            for case in self.cases(sizes):
                look_at(result, self, case, self.orders)
            lower.append(max(_lower(problem, self.references, case) for case in self.cases(sizes)))
        result.lower = min(filter(None, lower), default=0.0)
        timed, seconds = Case(problem.sizes.time, 0, self.seed), list[float]()
        for orders in ([serial], self.orders):
            look_at(result, self, timed, orders)
            seconds.append(serial.seconds)
        result.serial_seconds = min(seconds)
        few = sum(arg.elements(problem.sizes.time) for arg in problem.results) < _FEW_OUTPUTS
        is_quick = few or result.serial_seconds < _QUICK_SECONDS
        if is_quick and lower_bits(problem) == _SINGLE_BITS:
            for seed in range(self.seed + 1, self.seed + _LOOKS):
                look_at(result, self, replace(timed, seed=seed), self.orders)
        return result

    def cases(self, sizes: Sizes) -> list[Case]:
        """Each distribution of each argument once; at the timing shape the timed one."""
        counts = factors(self.problem)
        rounds = 1 if sizes == self.problem.sizes.time else max(counts, default=1)
        places = ([turn % count for count in counts] for turn in range(rounds))
        return [Case(sizes, variant_of(self.problem, place), self.seed) for place in places]


def calibrate(
    problem: Problem, compiler: Compiler, limits: JudgeLimits | None = None, seed: int = 1
) -> Calibration:
    """Measure both margins; takes seconds. Raises `BadInput` for a bad problem."""
    with Trials(problem, compiler, limits, seed) as trials:
        return trials.calibration


def look_at(result: Calibration, trials: Trials, case: Case, orders: Sequence[Runner]) -> None:
    """Take the errors of honest variants in one case into the largest."""
    problem, references = trials.problem, trials.references
    truths, keep = references.truths(case), keeper(problem, case.sizes, case.seed)
    serial = trials.orders[0]
    unit = problem.model_copy(update={"tolerance": TermsRule(rule="conditioned", terms="1")})
    for order in orders:
        fill = references.fill(case) if order is serial else _declared(trials, case)
        outputs = order.run(case.sizes, fill, keep)
        worst = _worst(outputs, truths)
        if order is serial and worst > result.own:
            result.own, result.wrong = worst, fault(problem, outputs, truths, POISON) or ""
            result.where = f"{shape_text(case.sizes)} ({describe(problem, case.variant)})"
        result.honest = max(result.honest, worst)
        for arg in problem.results:
            truth, is_placed = truths[arg.name], worst <= 1 or not arg.count
            # where a count is wrong, rows may stand in others' places
            if not (is_placed and is_rounded(truth.values)):
                continue
            zeros = np.zeros(truth.values.shape)
            allowed = tolerance(unit, arg, case.sizes, truth.values, zeros)
            off, ratio = _errors(outputs[arg.name], ExpectedOutput(truth.values, allowed, truth.at))
            result.off = max(result.off, off)
            result.terms = max(result.terms, (MARGIN * ratio) ** 2)


def _declared(trials: Trials, case: Case) -> Fill:
    """Inputs as a candidate of the declared precision may round them."""
    fill = trials.references.fill(case)
    if trials.problem.precision == "fp32":
        return fill

    def filled(views: Mapping[str, Array]) -> None:
        fill(views)
        for view in views.values():
            view[...] = rounded(view, _HALF_BITS)

    return filled


def rounded(array: Array, bits: int) -> Array:
    """Floats rounded to `bits` significant bits, to nearest, with the range of their own type."""
    if array.dtype.names:
        fewer = np.empty_like(array)
        for name in array.dtype.names:
            fewer[name] = rounded(np.ascontiguousarray(array[name]), bits)
        return fewer
    if not is_rounded(array):
        return array
    mantissa, exponent = np.frexp(parts(array))
    fewer = np.ldexp(np.rint(mantissa * 2.0**bits) / 2.0**bits, exponent)
    flat = fewer.astype(parts(array).dtype)
    return flat.view(array.dtype).reshape(array.shape)


def _lower(problem: Problem, references: References, case: Case) -> float:
    """Largest error from rounded inputs, else of rounded outputs; whole numbers do not round."""
    if not any(arg.is_inexact for arg in problem.outputs):
        return math.inf
    bits = lower_bits(problem)
    inputs, truths = references.given(case), references.truths(case)
    if any(arg.is_inexact for arg in problem.inputs):
        fewer = {name: rounded(array, bits) for name, array in inputs.items()}
        return _worst(references.run(case, fewer), truths)
    right = references.run(case, inputs)
    return _worst({name: rounded(array, bits) for name, array in right.items()}, truths)


def lower_bits(problem: Problem) -> int:
    """Significant bits of the precision below the declared one."""
    if problem.precision != "fp32":
        return _EIGHTH_BITS
    each = (kind for arg in problem.slots for kind in (arg.fields or {"": arg.type}).values())
    floats = set(filter(is_inexact, each))
    if "float16" in floats:
        return _EIGHTH_BITS
    return _SINGLE_BITS if floats and floats <= {"float64", "complex128"} else _HALF_BITS


def _worst(outputs: Mapping[str, KeptOutput], truths: Mapping[str, ExpectedOutput]) -> float:
    """Largest error of finite floats in tolerances; infinite where none is allowed."""
    worst = 0.0
    for name, truth in truths.items():
        if is_rounded(truth.values):
            output = outputs[name]
            worst = max(worst, _errors(output, truth)[1])
            if truth.blocks is not None:
                worst = max(worst, float(np.max(truth.blocks.errors(output), initial=0.0)))
        else:
            worst = max(worst, math.inf if mismatch(name, outputs[name], truth, 0) else 0.0)
    return worst


def _errors(output: KeptOutput, truth: ExpectedOutput) -> tuple[float, float]:
    """Largest error of finite floats, absolute and in tolerances."""
    actual = truth.of(output)
    finite = np.isfinite(truth.values)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        off = np.abs(wide(actual) - truth.values)
        ratio = np.where(off == 0, 0.0, off / truth.tolerance)
    known = (np.nan_to_num(each[finite], nan=np.inf, posinf=np.inf) for each in (off, ratio))
    largest, worst = (float(np.max(each, initial=0.0)) for each in known)
    return largest, worst
