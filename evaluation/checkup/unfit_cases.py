"""Cases that a declaration allows and the function was not made for: inputs, and shapes.

    inputs   drawings on which the code crashes now and then, such as rows that begin at the end
    shapes   secret ones at which honest code fails, such as more elements than a matrix has

Not covered: the timing shape; more than a few dozen drawings.
"""

import random
import time
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from math import prod

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.checkup.calibrate import Calibration, Trials, look_at
from regraph_kg.evaluation.checkup.findings import ProblemFinding, error, note
from regraph_kg.evaluation.problem.expression import holds
from regraph_kg.evaluation.problem.inputs import factors
from regraph_kg.evaluation.problem.problem import Array, Problem, Sizes, shape_text
from regraph_kg.evaluation.verify.reference import Case
from regraph_kg.evaluation.verify.secret_shapes import secret_shapes
from regraph_kg.evaluation.worker.runner import RunFailed

_DRAWINGS, _DRAWN_BYTES, _OTHER_SEED = 400, 2**18, 2000
_DRAWING_SECONDS, _SHAPE_SECONDS = 0.7, 2.0  # what these looks take at most, about
_ROUNDS = 2  # sets of secret shapes
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


def misshapen(trials: Trials) -> Iterator[ProblemFinding]:
    """A note where honest code has no room in the tolerance at a shape that may be secret."""
    problem, end = trials.problem, time.monotonic() + _SHAPE_SECONDS
    known = list[Sizes]()
    for turn in range(_ROUNDS if problem.held_out and len(problem.sizes.time) > 1 else 0):
        shapes = secret_shapes(problem, random.Random(trials.seed + turn))
        # the longest sums come first: time may not do for all
        for sizes in sorted(shapes, key=problem.elements, reverse=True):
            if time.monotonic() > end:
                return
            fault = "" if sizes in known else _fault_at(trials, sizes)
            known.append(sizes)
            # a fault that no relation tells apart is one of the tolerance, which is told elsewhere
            if fault and (relation := _relation(problem, sizes)):
                text = f"at {shape_text(sizes)}, which may be checked, {fault}"
                yield note("sizes", text, f'require = ["{relation}"] under [sizes]')
                return


def _fault_at(trials: Trials, sizes: Sizes) -> str:
    seen = Calibration()
    try:
        look_at(seen, trials, Case(sizes, 0, trials.seed), trials.orders)
    except BadInput as failed:
        return f"the serial code fails ({str(failed).partition(' fails: ')[2]})"
    if seen.admits:
        return ""
    return f"the serial code, its sums reordered, takes {seen.honest:.2g} of the tolerance"


def _relation(problem: Problem, unfit: Sizes) -> str:
    """The first relation, of one size to another or to two's product, that this shape breaks only.

    "" where there is none.
    """
    names, kept = list(problem.sizes.time), (*problem.sizes.check, problem.sizes.time)
    pairs = ("*".join(pair) for pair in combinations(names, 2))
    for right, left in product((*names, *pairs), names):
        text = f"{left} <= {right}"
        is_broken = left not in right.split("*") and not holds(text, unfit)
        if is_broken and all(holds(text, sizes) for sizes in kept):
            return text
    return ""
