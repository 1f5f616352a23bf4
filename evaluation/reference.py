"""What the outputs must be, and how far from it they may lie.

Truth comes from serial.cpp with fp64 types (or reference.cpp) in a process of its own. Tolerance
per element of a floating-point output, eps being that of the output's type (2^-23 for fp32):

    exact             0
    absolute          the declared number
    sum of n terms    max(4 eps |ref|, K eps sqrt(n) scale),
                      scale = max(|ref|, RMS(ref), RMS(deviation) / eps)
    conditioned       max(4 eps |ref|, K deviation, K / 4 RMS(deviation)); with terms n, not below
                      that of a sum of n terms

`deviation` is the largest change of the reference over 8 runs (2 for large inputs) whose inputs
moved by one ulp, up or down at random. Why K = 8: for a sum of n products of unit normals, where
RMS(ref) = sqrt(n), fp32 sums in two orders err at most by a tenth of the tolerance, fp16 inputs by
four tolerances or more [measured, 64 x 64 sums, n = 16 to 65536]. Integer outputs must be equal.

Precision tf32 moves inputs by 2^-10 and adds K 2^-10 scale to sums; fp16 also puts 2^-10 for eps.
Sums of products of small integers that no order of adding can round must be exact.

Not covered: outputs of the timing shape above 64 MiB, where the problem declares a cheap check.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regraph_kg.errors import BadInput
from regraph_kg.evaluation import cheap
from regraph_kg.evaluation.arena import Arena, Layout
from regraph_kg.evaluation.contents import Content, Contents, with_changes
from regraph_kg.evaluation.diagnose import Expected, Truth
from regraph_kg.evaluation.inputs import Inputs, distributions, moved_by_one_ulp
from regraph_kg.evaluation.problem import (
    AbsoluteRule,
    Argument,
    ConditionedRule,
    Problem,
    Sizes,
    SumRule,
    shape_text,
    size_of,
)
from regraph_kg.evaluation.rules import Defences, Failure, Limits
from regraph_kg.evaluation.spawn import Program
from regraph_kg.evaluation.supervisor import Worker
from regraph_kg.models.evaluation import Outcome

Array = NDArray[Any]

_K = 8.0
_CONDITION_RUNS, _FEW_CONDITION_RUNS = 8, 2
_MANY_ELEMENTS = 2**20
_FEW_OUTPUTS = 1024
"""Below this many elements the RMS of an output says little of its scale."""
_PATIENCE_SECONDS = 120.0
_KEPT_TRUTH_BYTES, _LARGE_TRUTH_BYTES = 256 * 2**20, 2**20
_LARGE_ARENA_BYTES = 512 * 2**20
_REFERENCE = "the reference (serial.cpp with fp64 types, or reference.cpp)"
_HALF = 2.0**-10
"""eps of fp16 and tf32: 11 significant bits."""
_FEW_WHOLE = 16
"""Fewer outputs than this may be whole by chance, as a mean is now and then: 4 eps for them."""
_SMALL, _MARGIN = 4, 64
"""Largest small integer; room left for sums of other functions of them."""


@dataclass(frozen=True, slots=True)
class Case:
    """One set of inputs: a shape, a variant of distributions, a seed."""

    sizes: Sizes
    variant: int
    seed: int
    version: int = 0
    """1: those of version 0 with a few elements changed. `timed` ones may change more often."""
    timed: bool = False
    """Whether it is a `Content` of the timing shape."""
    aligned: bool = True
    """Whether its arrays lie on more than a multiple of their element's size."""

    @property
    def key(self) -> tuple[object, ...]:
        """Identity within a problem."""
        shape = tuple(sorted(self.sizes.items()))
        return (shape, self.variant, self.seed, self.version, self.timed)


class Runner:
    """Calls one trusted program on given inputs, in one process that is started when first asked.

    `problem` has the program's signature. Raises `BadInput` where the program fails.
    """

    def __init__(
        self,
        problem: Problem,
        program: Program,
        shapes: list[Sizes],
        limits: Limits,
        name: str = _REFERENCE,
    ) -> None:
        self._problem, self._program, self._limits, self._name = problem, program, limits, name
        self._layout = Layout(problem, alignment=64)
        different = {shape_text(sizes): sizes for sizes in shapes}
        self._calls = {text: self._layout.call(sizes) for text, sizes in different.items()}
        self._running: tuple[Worker, Arena] | None = None
        self.seconds = 0.0
        """What the last call took, copies aside."""

    def __call__(self, sizes: Sizes, made: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs by argument name."""
        call = self._calls[shape_text(sizes)]
        worker, arena = self._started()
        for arg in self._problem.arrays:
            place = call.places[arg.name]
            if arg.name in made:
                arena.view(place)[...] = made[arg.name]
            else:
                arena.fill(place, 0)
        done = worker.call([call.row], _PATIENCE_SECONDS)
        if isinstance(done, Failure):
            self._require(done)
        else:
            self.seconds = done.ours
        outputs = {
            arg.name: arena.view(call.places[arg.name]).copy() for arg in self._problem.outputs
        }
        if arena.nbytes > _LARGE_ARENA_BYTES:
            self.close()  # it would hold as much memory as all the rest
        return outputs

    def _started(self) -> tuple[Worker, Arena]:
        if self._running is None:
            arena = self._layout.build()
            defences = Defences(memory_limit=False)
            self._running = Worker(self._program, arena, defences, self._limits, threads=1), arena
            self._require(self._running[0].start)
        return self._running

    def close(self) -> None:
        """End the process and release the memory; the next call starts it anew."""
        if self._running:
            worker, arena = self._running
            self._running = None
            worker.kill()
            arena.close()

    def _require(self, failure: Failure | None) -> None:
        if failure:
            late = failure.outcome is Outcome.TIMED_OUT
            remedy = "; make the shape smaller, or this code faster" if late else ""
            raise BadInput(
                f"problem {self._problem.name}: {self._name} fails: {failure.diagnosis}{remedy}"
            )


class References:
    """Truths of one problem, cached by case; one process, started when first asked.

    `contents` is asked for the inputs of timed calls. Truths are kept as far as memory allows.
    """

    def __init__(
        self,
        problem: Problem,
        program: Program,
        shapes: list[Sizes],
        limits: Limits,
        contents: Contents | None = None,
    ) -> None:
        self._problem, self._contents = problem, contents or Contents(problem, 0)
        self._inputs = Inputs(problem)
        self._run = Runner(problem.promoted(), program, shapes, limits)
        self._truths: dict[tuple[object, ...], Mapping[str, Expected]] = {}
        self.seconds = 0.0
        """What the last truth took."""

    def given(self, case: Case) -> Mapping[str, Array]:
        """Inputs by argument name, read-only."""
        if case.timed:
            return self._contents.arrays(Content(case.seed, case.version))
        made = self._inputs.get(case.sizes, case.variant, case.seed)
        if not case.version:
            return made
        return with_changes(self._problem, made, case.variant, case.seed)

    def truths(self, case: Case) -> Mapping[str, Expected]:
        """Expected outputs by argument name. Raises `BadInput` where the reference fails."""
        if case.key not in self._truths:
            made = self._cheap(case) or self._compute(case)
            self._make_room(self._nbytes(made) if case.timed else 0)
            self._truths[case.key] = made
        return self._truths[case.key]

    def knows(self, case: Case) -> bool:
        """Whether a truth is at hand."""
        return case.key in self._truths

    def forget(self, case: Case) -> None:
        """Compute that truth anew when it is asked for."""
        self._truths.pop(case.key, None)

    def _make_room(self, wanted: int) -> None:
        """Forget the oldest truths of large arrays."""
        large = {key: self._nbytes(made) for key, made in self._truths.items()}
        for key, nbytes in large.items():
            if sum(large.values()) + wanted <= _KEPT_TRUTH_BYTES:
                return
            if nbytes > _LARGE_TRUTH_BYTES:
                large[key] = 0
                del self._truths[key]

    @staticmethod
    def _nbytes(made: Mapping[str, Expected]) -> int:
        """Of values and tolerances."""
        return sum(
            truth.values.nbytes + np.asarray(getattr(truth, "tolerance", 0.0)).nbytes
            for truth in made.values()
        )

    def run(self, case: Case, made: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs of the reference for other inputs at a case's shape."""
        return self._run(case.sizes, made)

    def close(self) -> None:
        """End the reference's process."""
        self._run.close()

    def _cheap(self, case: Case) -> Mapping[str, Expected] | None:
        """What large outputs are held to without a run of the reference."""
        problem, check = self._problem, self._problem.cheap_check
        if not check or not self._is_large(case) or check.rule == "random-indices":
            return None
        made, out = self.given(case), check.args[-1]
        if check.rule == "sorted":
            return {out: cheap.arranged(made[check.args[0]], case.seed)}
        a, b = (made[name] for name in check.args[:2])
        arg = next(arg for arg in problem.outputs if arg.name == out)
        element = _K * _eps_of_sum(problem, arg, a.shape[1])
        return {out: cheap.product(a, b, element, case.seed)}

    def _is_large(self, case: Case) -> bool:
        timed = case.sizes == self._problem.sizes.time
        return timed and self._problem.nbytes(case.sizes) > cheap.LARGE_BYTES

    def _compute(self, case: Case) -> dict[str, Expected]:
        problem, made = self._problem, self.given(case)
        start = time.perf_counter()
        values = self.run(case, made)
        self._require_patience(case, time.perf_counter() - start, values, made)
        deviations = self._deviations(case, made, values)
        truths: dict[str, Expected] = {}
        for arg in problem.outputs:
            truth = values[arg.name]
            allowed = exact_sum(problem, arg, case, truth)
            if allowed is None:
                allowed = tolerance(problem, arg, case.sizes, truth, deviations[arg.name])
            truths[arg.name] = self._kept(case, Truth(truth, allowed))
        self.seconds = time.perf_counter() - start
        return truths

    def _kept(self, case: Case, truth: Truth) -> Truth:
        """Only a sample where the problem declares so."""
        check = self._problem.cheap_check
        if not (check and check.rule == "random-indices" and self._is_large(case)):
            return truth
        at = cheap.sample(truth.values.size, case.seed)
        allowed = np.broadcast_to(truth.tolerance, truth.values.shape).reshape(-1)[at]
        return Truth(truth.values.reshape(-1)[at], allowed, at)

    def _require_patience(
        self, case: Case, seconds: float, values: Mapping[str, Array], made: Mapping[str, Array]
    ) -> None:
        """The runs that follow take as long as the first: said before them, not after minutes."""
        runs = 1 + self._condition_runs(values, sum(array.size for array in made.values()))
        if runs * seconds > _PATIENCE_SECONDS:
            raise BadInput(
                f"problem {self._problem.name}: {_REFERENCE} takes {seconds:.3g} s at"
                f" {shape_text(case.sizes)}, and is run {runs} times: make that shape smaller (the"
                " serial code should take 0.1 to 2 s at the timing shape)"
            )

    def _deviations(
        self, case: Case, made: Mapping[str, Array], values: Mapping[str, Array]
    ) -> dict[str, Array]:
        largest = {name: np.zeros(array.shape) for name, array in values.items()}
        elements = sum(array.size for array in made.values())
        least = 0.0 if self._problem.precision == "fp32" else _HALF
        for seed in range(self._condition_runs(values, elements)):
            moved = self.run(case, moved_by_one_ulp(made, seed, least))
            for name, array in moved.items():
                with np.errstate(invalid="ignore"):
                    change = np.abs(array.astype(np.float64) - values[name])
                largest[name] = np.fmax(largest[name], change)
        return largest

    def _condition_runs(self, values: Mapping[str, Array], elements: int) -> int:
        if not any(array.dtype.kind == "f" for array in values.values()):
            return 0
        rule = self._problem.tolerance
        if rule == "conditioned" or isinstance(rule, ConditionedRule):
            return _CONDITION_RUNS if elements < _MANY_ELEMENTS else _FEW_CONDITION_RUNS
        few = any(array.size < _FEW_OUTPUTS for array in values.values())
        return _FEW_CONDITION_RUNS if few and isinstance(rule, SumRule) else 0


def tolerance(
    problem: Problem, arg: Argument, sizes: Sizes, truth: Array, deviation: Array
) -> Array | float:
    """Tolerance of each element of one output; see the module's docstring."""
    rule = problem.tolerance
    if isinstance(rule, AbsoluteRule):
        return rule.absolute
    if rule == "exact" or not arg.type.startswith("float"):
        return 0.0
    near = 4 * _eps(problem, arg) * np.abs(truth)
    floor: Array | float = 0.0
    if not isinstance(rule, str):
        scale = max(_rms(truth), _rms(deviation) / _input_eps(problem, arg))
        eps = _eps_of_sum(problem, arg, size_of(rule.terms, sizes))
        floor = _K * eps * np.fmax(np.abs(truth), scale)
    if not isinstance(rule, SumRule):
        floor = np.fmax(floor, _K * np.fmax(deviation, _rms(deviation) / 4))
    widest: Array = np.fmax(near, floor)
    return widest


def exact_sum(problem: Problem, arg: Argument, case: Case, truth: Array) -> Array | float | None:
    """Tolerance of a float sum that no order of adding rounds: 0; None of one that may round.

    Every float input must be drawn as small integers, the truth be whole and sums stay far below
    2^24 (fp16: 2^11).
    """
    rule = problem.tolerance
    floats = [given.name for given in problem.inputs if given.type.startswith("float")]
    if not (isinstance(rule, SumRule) and rule.exact_integers and floats):
        return None
    if not arg.type.startswith("float"):
        return None
    drawn = distributions(problem, case.variant)
    whole = all(a.is_array or float(a.scalar(case.sizes)).is_integer() for a in problem.args)
    bits = 11 if problem.precision == "fp16" else 24
    largest = size_of(rule.terms, case.sizes) * _SMALL ** len(floats) * _MARGIN
    small = all(drawn[name] == "small-int" for name in floats) and largest < 2**bits
    if not (whole and small and np.all(truth == np.rint(truth))):
        return None
    return 4 * _eps(problem, arg) * np.abs(truth) if truth.size < _FEW_WHOLE else 0.0


def _eps(problem: Problem, arg: Argument) -> float:
    own = float(np.finfo(arg.type).eps)
    return max(own, _HALF) if problem.precision == "fp16" else own


def _input_eps(problem: Problem, arg: Argument) -> float:
    """By how much, relatively, moved inputs were moved: the coarsest of them."""
    coarsest = max(
        (float(np.finfo(a.type).eps) for a in problem.inputs if a.type.startswith("float")),
        default=float(np.finfo(arg.type).eps),
    )
    return coarsest if problem.precision == "fp32" else max(coarsest, _HALF)


def _eps_of_sum(problem: Problem, arg: Argument, terms: int) -> float:
    """Rounding of a sum of `terms` products, relative to its size; tf32 rounds factors only."""
    rounded = _HALF if problem.precision == "tf32" else 0.0
    return rounded + _eps(problem, arg) * float(terms**0.5)


def _rms(values: Array) -> float:
    finite = values[np.isfinite(values)].astype(np.float64)
    return float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0
