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
_PAIR = 2


def measure_in_turn(
    pair: Sequence[tuple[Worker, Bench]], call_seconds: float, method: TimingOptions
) -> tuple[MeasuredSeries, MeasuredSeries] | Failure:
    """Time calls of two workers in turn (a b, b a, a b, ...).

    The n-th samples of both were taken next to each other. A call may take `call_seconds`. Raises
    `ToolError` where the GPU is lost meanwhile.
    """
    watch = method.monitor.watch() if method.monitor else None
    rule = StopRule(_SECONDS, half_width=0.0)
    both = [TimedSeries(worker, bench, rule, call_seconds, method, watch) for worker, bench in pair]
    warm: list[tuple[float, int]] = []
    for series in both:
        ready = series.bench.begin(series.worker) or series.worker.settle() or series.warm_up()
        if isinstance(ready, Failure):
            return placed(ready, call_seconds)
        warm.append(ready)
    batches = _turns(both, [count for _, count in warm])
    if isinstance(batches, Failure):
        return placed(batches, call_seconds)
    ended: list[MeasuredSeries] = []
    for series, (first, count), taken in zip(both, warm, batches, strict=True):
        measured = series.end(first, count, taken)
        if isinstance(measured, Failure):
            return placed(measured, call_seconds)
        ended.append(measured)
    return ended[0], ended[1]


def _turns(
    both: Sequence[TimedSeries], counts: Sequence[int]
) -> tuple[list[TimedBatch], list[TimedBatch]] | Failure:
    """Batches of both, as many of each: a turn counts where nothing spoiled either."""
    kept: tuple[list[TimedBatch], list[TimedBatch]] = ([], [])
    spent, turns = 0.0, 0
    for series in both:
        series.taken = 0
    while len(kept[0]) < _LEAST or (spent < _SECONDS and len(kept[0]) < _MOST):
        good: dict[int, TimedBatch] = {}
        for index in (1, 0) if turns % 2 else (0, 1):
            batch = both[index].take(counts[index])
            if isinstance(batch, Failure):
                return batch
            spent += batch.seconds + batch.aside
            if not both[index].is_spoiled(batch):
                good[index] = batch
        turns += 1
        for index, batch in good.items() if len(good) == _PAIR else ():
            kept[index].append(batch)
    return _alike(kept)


def _alike(
    kept: tuple[list[TimedBatch], list[TimedBatch]],
) -> tuple[list[TimedBatch], list[TimedBatch]]:
    """Keep batches on new inputs of both, where new inputs take one of them longer."""
    new = [(one, other) for one, other in zip(*kept, strict=True) if one.is_new and other.is_new]
    if new and any(carried_over([(b.each, b.is_new) for b in batches]) for batches in kept):
        return [one for one, _ in new], [other for _, other in new]
    return kept
