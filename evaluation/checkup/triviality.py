"""Is there anything to compute? Filters for tasks that unearned code passes (after robust-kbench).

    constant    one number, such as 0, passes for every element of all outputs, whatever the input
    input       no output changes where an input does

They are looked at in every case of the largest check shape, the input ones by drawing that
argument anew; arguments of inputs.py are drawn anew together, for they may depend on each other.

Not covered: scalars; an input that matters at another shape only; one number that passes by
chance in some cases and not in all.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from regraph_kg.evaluation.checkup.calibrate import Trials
from regraph_kg.evaluation.checkup.findings import ProblemFinding, error, note
from regraph_kg.evaluation.problem.inputs import generate
from regraph_kg.evaluation.problem.problem import Array
from regraph_kg.evaluation.verify.diagnose import ExpectedOutput, number
from regraph_kg.evaluation.verify.reference import Case

_OTHER_SEED = 1000


def trivial(trials: Trials) -> Iterator[ProblemFinding]:
    problem = trials.problem
    cases = trials.cases(max(filter(problem.is_full, problem.sizes.check), key=problem.nbytes))
    cases += [replace(case, seed=case.seed + 1) for case in cases]
    found = dict[str, str]()
    for arg in problem.results:
        truths = [trials.references.truths(case)[arg.name] for case in cases]
        found[arg.name] = _constant(truths)
    # a status beside results that vary is what many functions return
    finding = error if all(found.values()) else note
    for name, value in found.items():
        if value:
            text = f"{name} is {value} within the tolerance, whatever the input"
            write = f"a smaller tolerance, or inputs for which {name} varies (values, range)"
            yield finding("output", f"{text}: a constant passes for it", write)
    yield from _check_inputs(trials, cases)


def _constant(truths: Sequence[ExpectedOutput]) -> str:
    """The number that passes everywhere, 0 if it does; "" where none does."""
    with np.errstate(invalid="ignore", over="ignore"):
        bounds = [_common(truths, part) for part in _parts(truths)]
    if not all(low <= high for low, high in bounds):
        return ""
    middle = [0.0 if low <= 0 <= high else (low + high) / 2 for low, high in bounds]
    kind = truths[0].values.dtype.type
    return number(kind(middle[0]) if len(middle) == 1 else kind(complex(*middle)))


def _parts(truths: Sequence[ExpectedOutput]) -> Sequence[Callable[[Array], Array]]:
    """Arrays that are checked on their own: the two parts of complex numbers."""
    is_complex = any(truth.values.dtype.kind == "c" for truth in truths)
    return (np.real, np.imag) if is_complex else (np.real,)


def _common(
    truths: Sequence[ExpectedOutput], part: Callable[[Array], Array]
) -> tuple[float, float]:
    """Bounds of a number that passes for every element; low above high: none does."""
    low = max((float(np.max(part(t.values) - t.tolerance)) for t in truths), default=np.nan)
    high = min((float(np.min(part(t.values) + t.tolerance)) for t in truths), default=np.nan)
    return low, high


def _check_inputs(trials: Trials, cases: Sequence[Case]) -> Iterator[ProblemFinding]:
    problem, references = trials.problem, trials.references
    # Inputs that are drawn anew together: those of inputs.py may depend on each other.
    custom = tuple(arg.name for arg in problem.inputs if arg.is_custom)
    idle = [*((a.name,) for a in problem.inputs if not a.is_custom), *([custom] if custom else [])]
    for case in cases:
        if not idle:
            return
        inputs = references.given(case)
        other = generate(problem, case.sizes, case.variant, case.seed + _OTHER_SEED)
        before = references.run(case, inputs)
        for names in list(idle):
            drawn = {name: other[name] for name in names}
            after = references.run(case, {**inputs, **drawn})
            if any(not np.array_equal(a, after[n], equal_nan=True) for n, a in before.items()):
                idle.remove(names)
    for names in idle:
        message = f"no output changes where {' and '.join(names)} does: code may leave it unread"
        yield note("input", message, f"serial.cpp so that it uses {names[0]}, or drop it")
