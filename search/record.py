"""From what an iteration bought to its SimulationRecord; keeps the best verified code's name."""

from collections.abc import Sequence

from regraph_kg.models.run import SimulationRecord, StepRecord


class Recorder:
    """Numbers the iterations of one run and remembers its best step."""

    def __init__(self) -> None:
        self._iteration = 0
        self._speedup = 1.0
        self._path: tuple[str, ...] = ()

    def record(
        self, steps: Sequence[StepRecord], reward: float | None, spent: int
    ) -> SimulationRecord:
        """The record of the iteration that bought `steps`, the first of them at its path's end."""
        for step in steps:
            if (step.speedup or 0) > self._speedup:
                self._speedup, self._path = step.speedup or 0, step.path
        made = SimulationRecord(
            iteration=self._iteration,
            path=steps[0].path,
            steps=tuple(steps),
            reward=reward,
            spent=spent,
            best_speedup=self._speedup,
            best_path=self._path,
        )
        self._iteration += reward is not None
        return made
