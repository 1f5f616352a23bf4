"""Calls of two workers in turn, batch by batch: what slows the machine down slows both.

Both work on new inputs, or on changed ones, in the same turns: what writing inputs costs would else
be most of a comparison.

Not covered: two codes that get in each other's way merely by being there, as one that fills the
device's memory does.
"""

from collections.abc import Sequence

from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.timing.batches import Bench
from regraph_kg.evaluation.timing.stop import StopRule
from regraph_kg.evaluation.timing.timing import (
    MeasuredSeries,
    TimedBatch,
    TimedSeries,
    TimingOptions,
    carried_over,
    placed,
)
from regraph_kg.evaluation.worker.supervisor import Worker

_SECONDS, _LEAST, _MOST = 0.3, 3, 32  # what timed calls of both may take, and how many turns


def measure_in_turn(
    pair: Sequence[tuple[Worker, Bench]], call_seconds: float, method: TimingOptions
) -> tuple[MeasuredSeries, MeasuredSeries] | Failure:
    """Time calls of two workers in turn (a b, b a, a b, ...).

    The n-th samples of both were taken next to each other. A call may take `call_seconds`. Raises
    `ToolError` where the GPU is lost meanwhile.
    """
    both = [TimedSeries(worker, bench, call_seconds, method) for worker, bench in pair]
    measured = _in_turn(both, method)
    return placed(measured, call_seconds) if isinstance(measured, Failure) else measured


def _in_turn(
    both: Sequence[TimedSeries], method: TimingOptions
) -> tuple[MeasuredSeries, MeasuredSeries] | Failure:
    for series in both:
        series.rule = StopRule(_SECONDS, half_width=0.0)
        failure = series.begin() or series.warm_up(method.warm_up)
        if failure:
            return failure
    failure = _take_turns(both)
    if failure:
        return failure
    first, second = (series.end() for series in both)
    if isinstance(first, Failure):
        return first
    return second if isinstance(second, Failure) else (first, second)


def _take_turns(both: Sequence[TimedSeries]) -> Failure | None:
    """Give both as many batches: a turn counts where nothing spoiled either."""
    first, second = both
    spent, turns = 0.0, 0
    for series in both:
        series.taken = 0
    while len(first.batches) < _LEAST or (spent < _SECONDS and len(first.batches) < _MOST):
        good: dict[int, TimedBatch] = {}
        for index in (1, 0) if turns % 2 else (0, 1):
            batch = both[index].take(both[index].count)
            if isinstance(batch, Failure):
                return batch
            spent += batch.seconds + batch.aside
            if not both[index].is_spoiled(batch):
                good[index] = batch
        turns += 1
        for index, batch in good.items() if len(good) == len(both) else ():
            both[index].batches.append(batch)
    _keep_alike(first, second)
    return None


def _keep_alike(first: TimedSeries, second: TimedSeries) -> None:
    """Keep batches on new inputs of both, where new inputs take one of them longer."""
    pairs = list(zip(first.batches, second.batches, strict=True))
    new = [(one, other) for one, other in pairs if one.is_new and other.is_new]
    both = first.batches, second.batches
    if new and any(carried_over([(b.each, b.is_new) for b in batches]) for batches in both):
        first.batches, second.batches = [one for one, _ in new], [other for _, other in new]
