"""Inputs that a declaration allows and the function was not made for.

They are drawings on which the code crashes now and then, such as rows that begin at the end.

And tasks that unearned code passes (after robust-kbench), in every case of the largest check shape:
a constant for every element of all outputs; code that leaves an input unread. Arguments of
inputs.py are drawn anew together, for they may depend on each other.

Not covered: crashes at the timing shape, more than a few dozen drawings; scalars, an input that
matters at another shape only, one number that passes by chance in some cases and not in all.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

import numpy as np

from regraph_kg.evaluation.checkup.calibrate import Trials
from regraph_kg.evaluation.checkup.findings import ProblemFinding, error, note
from regraph_kg.evaluation.problem.declaration import shape_text
from regraph_kg.evaluation.problem.inputs import factors, generate
from regraph_kg.evaluation.problem.types import Array
from regraph_kg.evaluation.verify.outputs import ExpectedOutput, number
from regraph_kg.evaluation.verify.reference import Case
from regraph_kg.evaluation.worker.runner import RunFailed

_DRAWINGS, _DRAWN_BYTES, _OTHER_SEED = 400, 2**18, 2000
_DRAWING_SECONDS = 0.7  # what this look takes at most, about
_SHOWN = 3  # elements of an array at each end that are told


def crashing(trials: Trials) -> Iterator[ProblemFinding]:
    """An error where the code crashes on some drawings of small shapes, with one of them."""
    problem, references = trials.problem, trials.references
    shapes = [s for s in problem.sizes.check if problem.nbytes(s) <= _DRAWN_BYTES]
    failed, tried, first = 0, 0, ""
    variants, end = prod(factors(problem)), time.monotonic() + _DRAWING_SECONDS
    for turn, sizes in product(range(_DRAWINGS), shapes):
        if time.monotonic() > end:
            break
        case = Case(sizes, turn % variants, _OTHER_SEED + turn)
        inputs, tried = references.given(case), tried + 1
        try:
            references.run(case, inputs)
        except RunFailed as crashed:
            failed += 1
            reason = str(crashed).partition(" fails: ")[2]
            first = first or f"at {shape_text(sizes)} with {_ends(inputs)}: {reason}"
    if failed:
        text = f"fails on {failed} of {tried} drawings, {first}"
        yield error("serial code", text, "a range, or an inputs.py, that has no such inputs")


def _ends(inputs: Mapping[str, Array]) -> str:
    """First and last elements of the integers: those are what leads somewhere."""
    whole = {name: a.reshape(-1) for name, a in inputs.items() if a.dtype.kind in "iu" and a.size}
    each = [
        f"{name} = {', '.join(map(str, flat[:_SHOWN]))} .. {', '.join(map(str, flat[-_SHOWN:]))}"
        for name, flat in whole.items()
    ]
    return "; ".join(each) or "these inputs"


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
    kind, middle = truths[0].values.dtype, list[float]()
    for part in (np.real, np.imag) if kind.kind == "c" else (np.real,):
        with np.errstate(invalid="ignore", over="ignore"):
            low = max(float(np.max(part(t.values) - t.tolerance)) for t in truths)
            high = min(float(np.min(part(t.values) + t.tolerance)) for t in truths)
        if not low <= high:
            return ""
        middle.append(0.0 if low <= 0 <= high else (low + high) / 2)
    return number(kind.type(middle[0] if len(middle) == 1 else complex(*middle)))


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
