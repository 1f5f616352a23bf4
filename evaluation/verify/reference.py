"""Expected outputs of a case, with their tolerances (tolerance.py).

Truth comes from serial.cpp with fp64 types (or reference.cpp) in a process of its own.

Arrays of the timing shape exist once, in the memory that the reference's process shares: inputs are
written there in blocks. Of outputs above 4 MiB a secret sample is read.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.alterations import altered, restore
from regraph_kg.evaluation.problem.declaration import Argument, Sizes, TermsRule, shape_text
from regraph_kg.evaluation.problem.inputs import Inputs, move_by_one_ulp
from regraph_kg.evaluation.problem.problem import KEPT_TRUTHS_BYTES, Problem
from regraph_kg.evaluation.problem.rows import counted, rows
from regraph_kg.evaluation.problem.types import Alteration, Array, is_rounded, wide
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.evaluation.verify import large_outputs
from regraph_kg.evaluation.verify.outputs import ExpectedOutput
from regraph_kg.evaluation.verify.timed_inputs import Contents, TimedInputs, with_changes
from regraph_kg.evaluation.verify.tolerance import HALF, TIMES, exact_sum, tolerance, unrounded
from regraph_kg.evaluation.worker.runner import REFERENCE, Fill, RunFailed, Runner, put
from regraph_kg.evaluation.worker.spawn import Program
from regraph_kg.models.evaluation import Outcome

_CONDITION_RUNS, _FEW_CONDITION_RUNS = 8, 2
_MANY_ELEMENTS = 2**20
_FEW_OUTPUTS = 1024  # below this many elements the RMS of an output says little of its scale
_PATIENCE_SECONDS = 120.0
_ALIKE = ("equal", "extremes")
"""Alterations that leave so few values that all terms of a sum round the same way."""
_SUMS = " in blocks"
_DRAWINGS, _OTHER_SEED = 8, 2**32
"""How often a case is drawn where the reference crashes on it, and how far apart the seeds lie."""
_Keep = Callable[[str, Array], large_outputs.KeptOutput]
_KEPT_TRUTH_BYTES, _LARGE_TRUTH_BYTES = KEPT_TRUTHS_BYTES, 2**20
"""Truths of a session beyond these bytes are computed again for each candidate."""


@dataclass(frozen=True, slots=True)
class Case:
    """One set of inputs: a shape, a variant of distributions, a seed."""

    sizes: Sizes
    variant: int
    seed: int
    version: int = 0  # 1: version 0 with a few elements changed; `timed` ones change more often
    timed: bool = False  # whether it is a `TimedInputs` of the timing shape
    aligned: bool = True  # whether its arrays lie on more than a multiple of their element's size
    alteration: Alteration | None = None  # how the drawn inputs are altered as a whole

    @property
    def key(self) -> tuple[object, ...]:
        """Identity within a problem."""
        shape = tuple(sorted(self.sizes.items()))
        return (shape, self.variant, self.seed, self.version, self.timed, self.alteration)


class References:
    """Truths of one problem, cached by case; one process, started when first asked.

    `contents` is asked for the inputs of timed calls. Truths are kept as far as memory allows.
    `serial` says what integers are that floats decide, in the serial code's own precision.
    """

    def __init__(
        self,
        problem: Problem,
        program: Program,
        shapes: list[Sizes],
        limits: JudgeLimits,
        contents: Contents | None = None,
        serial: Program | None = None,
    ) -> None:
        self._problem, self._contents = problem, contents or Contents(problem, 0)
        self._inputs = Inputs(problem)
        self._run = Runner(problem.promoted(), program, shapes, limits)
        self._own: Runner | None = None
        whole = any(not arg.is_inexact for arg in problem.results)
        if serial and whole and problem.promoted() is not problem:
            self._own = Runner(problem, serial, shapes, limits)
        self._truths: dict[tuple[object, ...], Mapping[str, ExpectedOutput]] = {}
        self._redrawn: dict[tuple[object, ...], int] = {}  # seeds of cases that it did not stand
        self._usual: dict[str, Array] = {}
        """Deviations of few outputs of a timed call: many runs show them, once is enough."""
        self.seconds = 0.0  # what the last truth took
        self.timed_seconds = 0.0  # what the last one at the timing shape took

    def given(self, case: Case) -> Mapping[str, Array]:
        """Inputs by argument name, read-only."""
        if case.timed:
            return self._contents.arrays(TimedInputs(case.seed, case.version))
        seed = self._redrawn.get(case.key, case.seed)
        inputs = self._inputs.get(case.sizes, case.variant, seed)
        if case.alteration:
            return altered(self._problem, case.sizes, inputs, case.alteration, case.seed)
        if not case.version:
            return inputs
        return with_changes(self._problem, inputs, case.variant, case.seed)

    def fill(self, case: Case) -> Fill:
        """A function that writes the inputs of a case into given arrays."""
        if case.timed:
            return partial(self._contents.write, TimedInputs(case.seed, case.version))
        return partial(put, self.given(case))

    def truths(self, case: Case) -> Mapping[str, ExpectedOutput]:
        """Expected outputs by argument name. Raises `BadInput` where the reference fails."""
        truths = self._truths.pop(case.key, None) or self._drawn(case)
        self._truths[case.key] = truths  # behind those that were asked for longer ago
        sizes = dict[tuple[object, ...], int]()  # bytes of values and tolerances
        for key, kept in self._truths.items():
            parts = [p for t in kept.values() for p in (t.values, t.tolerance, t.at)]
            sizes[key] = sum(part.nbytes for part in parts if isinstance(part, np.ndarray))
        for key in list(sizes)[:-1]:  # large ones are forgotten, this one never
            if sum(sizes.values()) > _KEPT_TRUTH_BYTES and sizes[key] > _LARGE_TRUTH_BYTES:
                del sizes[key], self._truths[key]
        return truths

    def knows(self, case: Case) -> bool:
        return case.key in self._truths

    def forget(self, case: Case) -> None:
        """Drop a truth; the next use computes it anew."""
        self._truths.pop(case.key, None)

    def retire(self, content: TimedInputs) -> None:
        """Retire its arrays: a diagnosis revealed them."""
        self._contents.retire(content)

    def run(self, case: Case, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs of the reference for other inputs at a case's shape."""
        return self._run(case.sizes, inputs)

    def close(self) -> None:
        """End the reference's processes, and the one that runs inputs.py."""
        if self._own:
            self._own.close()
        self._run.close()
        self._contents.close()

    def _drawn(self, case: Case) -> dict[str, ExpectedOutput]:
        """Truths on inputs that the reference stands: what it crashes on is drawn anew."""
        for turn in range(1, _DRAWINGS + 1):
            try:
                return self._computed(case)
            except RunFailed as failed:
                # arrays of timed calls lie in workers already
                is_last = case.timed or turn == _DRAWINGS
                if is_last or failed.outcome is not Outcome.CRASHED:
                    raise
            finally:
                self._run.release()
            self._redrawn[case.key] = case.seed + turn * _OTHER_SEED
        raise AssertionError

    def _computed(self, case: Case) -> dict[str, ExpectedOutput]:
        problem, fill = self._problem, self.fill(case)
        at = large_outputs.places(problem, case.sizes, case.seed)

        def keep(name: str, output: Array) -> large_outputs.KeptOutput:
            return large_outputs.kept(output, at.get(name), case.seed)

        start = time.perf_counter()
        plain = self._moved(case, fill, None)
        values = _columns(self._run.run(case.sizes, plain, keep, stays=True))
        took, others = time.perf_counter() - start, self._decided(case, keep)
        deviations = self._deviations(case, values, fill, keep, took, others)
        truths: dict[str, ExpectedOutput] = {}
        heads = {arg.name: rows(arg, values) for arg in counted(problem)}
        for arg in problem.results:
            truth = values[arg.name]
            rounds = case.alteration is not None
            allowed = None if rounds else exact_sum(problem, arg, case.sizes, case.variant, truth)
            if allowed is None and arg.count:
                number = heads.get(arg.name, truth.shape[0])
                allowed = self._of_rows(arg, case, truth[:number], truth.shape)
            elif allowed is None:
                move = deviations.pop(arg.name)
                allowed = tolerance(
                    problem, arg, case.sizes, truth, move, is_biased=case.alteration in _ALIKE
                )
            if case.alteration == "whole":
                allowed = np.fmin(allowed, unrounded(problem, arg, truth))
            seen = tuple(others.get(arg.name, ()))
            truths[arg.name] = ExpectedOutput(truth, allowed, others=seen)
            if arg.name in at:
                sums, moves = (each.get(arg.name + _SUMS) for each in (values, deviations))
                blocks = None
                if sums is not None and moves is not None:
                    known = large_outputs.Sampled(truth, sums)
                    blocks = large_outputs.blocks(known, TIMES * moves, allowed, case.seed)
                truths[arg.name] = replace(truths[arg.name], at=at[arg.name], blocks=blocks)
        self.seconds = time.perf_counter() - start
        if case.sizes == problem.sizes.time:
            self.timed_seconds = self.seconds
        return truths

    def _deviations(
        self,
        case: Case,
        values: Mapping[str, Array],
        fill: Fill,
        keep: _Keep,
        seconds: float,
        others: Mapping[str, list[Array]],
    ) -> dict[str, Array]:
        """The largest changes of `values` where inputs move; a run takes so many seconds."""
        elements = sum(arg.elements(case.sizes) for arg in self._problem.inputs)
        runs = self._condition_runs(values, elements)
        # they take as long as the first: said before them, not after minutes
        if (1 + runs) * seconds > _PATIENCE_SECONDS:
            raise BadInput(
                f"problem {self._problem.name}: {REFERENCE} takes {seconds:.3g} s at"
                f" {shape_text(case.sizes)}, and is run {1 + runs} times: make that shape smaller"
                " (the serial code should take 0.002 to 2 s at the timing shape)"
            )
        largest = {name: np.zeros(array.shape) for name, array in values.items()}
        is_many = case.timed and runs > _FEW_CONDITION_RUNS
        if is_many and self._usual.keys() == values.keys():
            runs, largest = _FEW_CONDITION_RUNS, {n: a.copy() for n, a in self._usual.items()}
        for seed in range(runs):
            moved = self._moved(case, fill, seed)
            moved_values = _columns(self._run.run(case.sizes, moved, keep, stays=True))
            for name, array in moved_values.items():
                with np.errstate(invalid="ignore"):
                    change = np.abs(wide(array) - values[name])
                np.fmax(largest[name], change, out=largest[name])
            # What integers become then joins `others`, of those that are in there.
            for name, seen in others.items():
                known = (values[name], *seen)
                if not any(np.array_equal(moved_values[name], each) for each in known):
                    seen.append(moved_values[name])
        if is_many and not self._usual:
            self._usual = {name: array.copy() for name, array in largest.items()}
        return largest

    def _decided(self, case: Case, keep: _Keep) -> dict[str, list[Array]]:
        """Integer outputs in the serial code's own precision; none where floats decide none."""
        if not self._own:
            return {}
        try:
            output = _columns(self._own.run(case.sizes, partial(put, self.given(case)), keep))
        except RunFailed:
            return {}
        # rows are compared where their number is right: that is the truth's alone
        results = self._problem.results
        told = {arg.count for arg in results} | {arg.name for arg in results if arg.count}
        names = [arg.name for arg in results if not arg.is_inexact and arg.name not in told]
        return {name: [output[name]] for name in names}

    def _of_rows(
        self, arg: Argument, case: Case, head: Array, shape: tuple[int, ...]
    ) -> Array | float:
        """Tolerance of the rows that count, 0 behind them."""
        # Moved inputs may have other rows in other places: what they change is not looked at.
        near = tolerance(self._problem, arg, case.sizes, head, np.zeros(head.shape))
        if isinstance(near, float):
            return near
        allowed = np.zeros(shape)
        allowed[: head.shape[0]] = near
        return allowed

    def _moved(self, case: Case, fill: Fill, seed: int | None) -> Fill:
        """The same inputs, with a seed each by a unit of its precision up or down."""
        floor = 0.0 if self._problem.precision == "fp32" else HALF

        def filled(views: Mapping[str, Array]) -> None:
            fill(views)
            if seed is not None:
                move_by_one_ulp(self._problem, views, seed, floor)
            if case.alteration == "sentinels":  # what the code spells, whatever moved them
                restore(self._problem, self.given(case), views)

        return filled

    def _condition_runs(self, values: Mapping[str, Array], elements: int) -> int:
        """How many runs with moved inputs show what rounding does."""
        rounded = [a for name, a in values.items() if is_rounded(a) and not name.endswith(_SUMS)]
        # Of few outputs the largest change in two runs can be small by chance.
        few = any(array.size < _FEW_OUTPUTS for array in rounded)
        tolerance = self._problem.tolerance
        rule = tolerance.rule if isinstance(tolerance, TermsRule) else tolerance
        if rounded and rule == "conditioned":
            many = elements >= _MANY_ELEMENTS and not few
            return _FEW_CONDITION_RUNS if many else _CONDITION_RUNS
        return _FEW_CONDITION_RUNS if few and rule == "sum" else 0


def _columns(outputs: Mapping[str, Array | large_outputs.Sampled]) -> dict[str, Array]:
    """Elements by name; of sampled outputs also the sums of their blocks, if they have any."""
    arrays = dict[str, Array]()
    for name, output in outputs.items():
        if isinstance(output, large_outputs.Sampled):
            arrays |= {name + _SUMS: output.sums} if output.sums.size else {}
            arrays[name] = output.elements
        else:
            arrays[name] = output
    return arrays
