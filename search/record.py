"""Turns iterations into SimulationRecords and tracks the best verified code's path."""

from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.context import Iteration


class Recorder:
    """Numbers the iterations of one run and remembers its best step."""

    def __init__(self) -> None:
        self._iteration = 0
        self._speedup = 1.0
        self._path: tuple[str, ...] = ()

    def record(self, ended: Iteration, spent: int) -> SimulationRecord:
        """The record of an iteration; `spent` calls have ended by now, whosever they were."""
        for step in ended.steps:
            if (step.speedup or 0) > self._speedup:
                self._speedup, self._path = step.speedup or 0, step.path
        record = SimulationRecord(
            iteration=self._iteration,
            path=ended.path,
            steps=ended.steps,
            reward=ended.reward,
            spent=spent,
            best_speedup=self._speedup,
            best_path=self._path,
        )
        self._iteration += ended.reward is not None
        return record
