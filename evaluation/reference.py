"""What the outputs must be, and how far from it they may lie.

Truth comes from serial.cpp with fp64 types (or reference.cpp) in a process of its own. Tolerance
per element of a floating-point output, eps being that of the output's type (2^-23 for fp32):

    exact             0
    absolute          the declared number
    sum of n terms    max(4 eps |ref|, K eps sqrt(n) scale), scale = max(RMS(ref), deviation / eps)
    conditioned       max(4 eps |ref|, K deviation, K / 4 RMS(deviation))

`deviation` is the largest change of the reference over 8 runs (2 for large inputs) whose inputs
moved by one ulp, up or down at random. Why K = 8: for a sum of n products of unit normals, where
RMS(ref) = sqrt(n), a reordered fp32 sum errs at most by a seventh of the tolerance, fp16 inputs by
four tolerances or more up to n = 2^15 [measured, n = 16 to 65536]. Integer outputs must be equal.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.arena import Call, Layout
from regraph_kg.evaluation.inputs import generate, moved_by_one_ulp
from regraph_kg.evaluation.problem import (
    AbsoluteRule,
    Argument,
    Problem,
    Sizes,
    SumRule,
    shape_text,
    size_of,
)
from regraph_kg.evaluation.rules import Defences, Failure, Limits
from regraph_kg.evaluation.supervisor import Program, Worker

Array = NDArray[Any]

_K = 8.0
_CONDITION_RUNS, _FEW_CONDITION_RUNS = 8, 2
_MANY_ELEMENTS = 2**20
_FEW_OUTPUTS = 1024
"""Below this many elements the RMS of an output says little of its scale."""
_PATIENCE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Case:
    """One set of inputs: a shape, a variant of distributions, a seed."""

    sizes: Sizes
    variant: int
    seed: int

    @property
    def key(self) -> tuple[object, ...]:
        """Identity within a problem."""
        return (tuple(sorted(self.sizes.items())), self.variant, self.seed)


@dataclass(frozen=True, slots=True)
class Truth:
    """Expected output (fp64, or the exact integers) and the tolerance of its elements."""

    values: Array
    tolerance: Array | float


class References:
    """Truths of one problem, cached by case; one process, started when first asked."""

    def __init__(
        self, problem: Problem, program: Program, shapes: list[Sizes], limits: Limits
    ) -> None:
        self._problem = problem
        self._wide = problem.promoted()
        self._program, self._limits = program, limits
        layout = Layout(self._wide, alignment=64)
        self._calls = {shape_text(s): layout.whole_call(s) for s in shapes}
        self._arena = layout.build()
        self._worker: Worker | None = None
        self._truths: dict[tuple[object, ...], dict[str, Truth]] = {}

    def truths(self, case: Case) -> Mapping[str, Truth]:
        """Expected outputs by argument name. Raises `BadInput` where the reference fails."""
        if case.key not in self._truths:
            self._truths[case.key] = self._compute(case)
        return self._truths[case.key]

    def close(self) -> None:
        """End the reference's process."""
        if self._worker:
            self._worker.kill()
        self._arena.close()

    def _compute(self, case: Case) -> dict[str, Truth]:
        call = self._calls[shape_text(case.sizes)]
        made = generate(self._problem, case.sizes, case.variant, case.seed)
        values = self._run(call, made)
        deviations = self._deviations(call, made, values)
        return {
            arg.name: Truth(
                values[arg.name],
                tolerance(self._problem, arg, case.sizes, values[arg.name], deviations[arg.name]),
            )
            for arg in self._problem.outputs
        }

    def _deviations(
        self, call: Call, made: Mapping[str, Array], values: Mapping[str, Array]
    ) -> dict[str, Array]:
        largest = {name: np.zeros(array.shape) for name, array in values.items()}
        elements = sum(array.size for array in made.values())
        for seed in range(self._condition_runs(values, elements)):
            moved = self._run(call, moved_by_one_ulp(made, seed))
            for name, array in moved.items():
                with np.errstate(invalid="ignore"):
                    change = np.abs(array.astype(np.float64) - values[name])
                largest[name] = np.fmax(largest[name], change)
        return largest

    def _condition_runs(self, values: Mapping[str, Array], elements: int) -> int:
        if self._problem.tolerance == "conditioned":
            return _CONDITION_RUNS if elements < _MANY_ELEMENTS else _FEW_CONDITION_RUNS
        few = any(array.size < _FEW_OUTPUTS for array in values.values())
        return _FEW_CONDITION_RUNS if few and isinstance(self._problem.tolerance, SumRule) else 0

    def _run(self, call: Call, made: Mapping[str, Array]) -> dict[str, Array]:
        if self._worker is None:
            self._worker = Worker(
                self._program, self._arena, Defences(memory_limit=False), self._limits, threads=1
            )
            self._require(self._worker.start)
        for arg in self._wide.arrays:
            place = call.places[arg.name]
            if arg.name in made:
                self._arena.view(place)[...] = made[arg.name]
            else:
                self._arena.fill(place, 0)
        done = self._worker.call([call.row], _PATIENCE_SECONDS)
        self._require(done if isinstance(done, Failure) else None)
        return {
            arg.name: self._arena.view(call.places[arg.name]).copy() for arg in self._wide.outputs
        }

    def _require(self, failure: Failure | None) -> None:
        if failure:
            raise BadInput(
                f"problem {self._problem.name}: the reference (serial.cpp with fp64 types, or"
                f" reference.cpp) fails: {failure.diagnosis}"
            )


def tolerance(
    problem: Problem, arg: Argument, sizes: Sizes, truth: Array, deviation: Array
) -> Array | float:
    """Tolerance of each element of one output; see the module's docstring."""
    rule = problem.tolerance
    if isinstance(rule, AbsoluteRule):
        return rule.absolute
    if rule == "exact" or not arg.type.startswith("float"):
        return 0.0
    eps = float(np.finfo(arg.type).eps)
    near = 4 * eps * np.abs(truth)
    if isinstance(rule, SumRule):
        scale = max(_rms(truth), _rms(deviation) / eps)
        floor: Array | float = _K * eps * size_of(rule.terms, sizes) ** 0.5 * scale
    else:
        floor = _K * np.fmax(deviation, _rms(deviation) / 4)
    widest: Array = np.fmax(near, floor)
    return widest


def _rms(values: Array) -> float:
    finite = values[np.isfinite(values)].astype(np.float64)
    return float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0
