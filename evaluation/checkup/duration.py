"""Does the serial code take 0.002 to 2 s at the timing shape? If not, a shape at which it may.

Not covered: how time really grows with the sizes; work is taken for it, as declared, else bytes.
"""

import math
from collections.abc import Iterator

from regraph_kg.evaluation.checkup.findings import ProblemFinding, note
from regraph_kg.evaluation.problem.expression import holds
from regraph_kg.evaluation.problem.problem import Problem, Sizes, size_of

SHORTEST, LONGEST = 0.002, 2.0
"""Seconds of the serial code that make good measurements and quick verdicts."""
_AIM = 0.06
_STEPS = 60
_MOST_BYTES = 2**26
"""Arrays of a shape that is proposed: larger ones take long to judge."""


def unfit_duration(problem: Problem, seconds: float) -> Iterator[ProblemFinding]:
    """A note where it takes less or more, with a shape to write."""
    if SHORTEST <= seconds <= LONGEST:
        return
    message = f"serial.cpp takes {_seconds_text(seconds)}; {SHORTEST:g} to {LONGEST:g} s is good"
    better = _scaled(problem, _AIM / seconds)
    shape = ", ".join(f"{name} = {extent}" for name, extent in better.items()) if better else ""
    yield note("timing shape", message, f"time = {{ {shape} }}" if shape else "")


def _seconds_text(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds >= 1 else f"{seconds * 1000:.2g} ms"


def _scaled(problem: Problem, times: float) -> Sizes | None:
    """All sizes by one factor, so that the work is about `times` as much; None where none fits."""
    timed = problem.sizes.time
    base = _work(problem, timed)
    best: Sizes | None = None
    nearest = 1 - min(times, 1 / times)
    for step in range(-_STEPS, _STEPS + 1):
        sizes = {name: _round(extent, 2.0 ** (step / 4)) for name, extent in timed.items()}
        if not all(holds(text, sizes) for text in problem.sizes.require):
            continue
        full = not problem.fault_at(sizes) and problem.is_full(sizes)
        if not full or problem.nbytes(sizes) > max(_MOST_BYTES, problem.nbytes(timed)):
            continue
        share = _work(problem, sizes) / base / times
        distance = 1 - min(share, 1 / share) if share > 0 else 1.0
        if sizes != timed and distance < nearest:
            best, nearest = sizes, distance
    return best


def _work(problem: Problem, sizes: Sizes) -> float:
    if problem.work.flop is not None:
        return float(size_of(problem.work.flop, sizes))
    return float(problem.nbytes(sizes))


def _round(extent: int, factor: float) -> int:
    """Two significant digits; of a power of two the nearest one."""
    target = max(1.0, extent * factor)
    if extent & (extent - 1) == 0:
        return int(2 ** round(math.log2(target)))
    return int(float(f"{target:.1e}"))
