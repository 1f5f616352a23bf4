"""Calls of two workers in turn, batch by batch: what slows the machine down slows both.

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
    placed,
)
from regraph_kg.evaluation.worker.supervisor import Worker

_SECONDS, _LEAST, _MOST = 0.3, 3, 32
"""What timed calls of both may take, and how many turns."""
_PAIR = 2


def measure_in_turn(
    pair: Sequence[tuple[Worker, Bench]], call_seconds: float, method: TimingOptions
) -> tuple[MeasuredSeries, MeasuredSeries] | Failure:
    """Time calls of two workers in turn (a b, b a, a b, ...), all on new inputs.

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
    return kept
