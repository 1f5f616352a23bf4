"""The driver: keeps iterations of a method under way, and gives each the results it waits for.

It decides nothing about the search and does nothing of it: the method decides between two effects,
an executor (executor.py) does them. All of it happens in one thread, so that the order in which
results come in decides everything; a trace holds that order, and a resumed run repeats it
(trace.py).

Equal code is judged once, also while it is being judged. A call whose answer is to come by file
(`AnswersPending`) stays under way; what does not wait for it goes on.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from regraph_kg.errors import AnswersPending
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.context import Iteration, Method
from regraph_kg.search.effects import Effect, Effects, ModelRequest, Result
from regraph_kg.search.ledger import Ledger

# Log gain of a best that ends a row of calls in vain; less may be noise of a screening.
GAIN = 0.05
# Expected log gain of a sample that is worth a call beyond patience.
PROMISE = 0.1


@dataclass(frozen=True, slots=True)
class Finished:
    """An effect and what came of it; None: the answer is to come by file."""

    effect: Effect
    result: Result | None


class Executor(Protocol):
    """Does effects, several at once."""

    def start(self, effect: Effect) -> None:
        """Begin an effect."""

    def finish(self) -> Finished:
        """Wait for the next to end. Raises what the world raises."""

    def seconds(self) -> float:
        """The run's active seconds when the last effect ended."""


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


class Patience:
    """Ends a search that has had enough, though its limits would let it go on.

    So many calls in a row brought no best that is better by more than noise, and the last sample
    did not promise one either, where the method knows what it promises (`Iteration.expected`). It
    is decided on results alone, in their order: the same answers make the same end.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._best = 0.0
        self._since = 0

    def see(self, ended: Iteration, record: SimulationRecord) -> None:
        """An iteration has ended; settles the search where that was enough."""
        if ended.reward is None:  # it bought no call, and kept no promise
            return
        level = math.log(record.best_speedup)
        if level > self._best + GAIN:
            self._best, self._since = level, record.spent
        patient = self._ledger.limits.patient_calls
        in_vain = record.spent - self._since
        promised = ended.expected is not None and ended.expected >= PROMISE
        if patient is not None and in_vain >= patient and not promised:
            self._ledger.settle("patience")


class Driver:
    """Runs a method: at most `parallel` calls of the model at once.

    While judges work, half as many iterations again may wait for them, so that the model is busy.
    """

    def __init__(
        self,
        method: Method,
        executor: Executor,
        ledger: Ledger,
        parallel: int = 1,
        first: Iteration | None = None,
    ) -> None:
        """`first` is what was bought before the method began."""
        self._method, self._executor, self._ledger = method, executor, ledger
        self._first = first
        # iterations that wait for the judge leave the model idle, so half as many again may begin
        self._parallel, self._most = parallel, parallel + parallel // 2
        self._recorder = Recorder()
        self._patience = Patience(ledger)
        self._waiting: dict[str, list[Effects[Iteration]]] = {}
        self._asking = self._pending = 0

    def run(self) -> Iterator[SimulationRecord]:
        """One record an iteration, as they end.

        Raises what the world raises, the records so far stay good; at the end `AnswersPending`, if
        anything waits for an answer by file.
        """
        if self._first is not None:
            yield self._recorder.record(self._first, self._ledger.spent.calls)
        while True:
            yield from self._begin()
            # only answers by file are waited for: no effect of ours will end
            if len(self._waiting) == self._pending:
                break
            finished = self._executor.finish()
            self._ledger.seconds = self._executor.seconds()
            yield from self._end(finished)
        if self._pending:
            raise AnswersPending(f"{self._pending} answers are to come by file")

    def _begin(self) -> Iterator[SimulationRecord]:
        """Iterations, as long as there is room for a call."""
        while self._has_room() and self._ledger.left > 0:
            work = self._method.iteration()
            if work is None:
                return
            yield from self._advance(work, None)

    def _has_room(self) -> bool:
        under_way = sum(len(works) for works in self._waiting.values())
        return self._asking < self._parallel and under_way < self._most

    def _end(self, finished: Finished) -> Iterator[SimulationRecord]:
        if finished.result is None:
            self._pending += 1  # it keeps its place among those under way
            return
        self._asking -= isinstance(finished.effect, ModelRequest)
        # equal effects were begun once: all that wait for one go on with its result
        for work in self._waiting.pop(_name(finished.effect)):
            yield from self._advance(work, finished.result)

    def _advance(
        self, work: Effects[Iteration], result: Result | None
    ) -> Iterator[SimulationRecord]:
        """Let an iteration go on to its next effect, or to its end."""
        try:
            effect = next(work) if result is None else work.send(result)
        except StopIteration as end:
            record = self._recorder.record(end.value, self._ledger.spent.calls)
            self._patience.see(end.value, record)
            yield record
            return
        name = _name(effect)
        if name in self._waiting:
            self._waiting[name].append(work)
            return
        self._waiting[name] = [work]
        self._asking += isinstance(effect, ModelRequest)
        self._executor.start(effect)


def _name(effect: Effect) -> str:
    """Equal for effects of which one suffices."""
    if isinstance(effect, ModelRequest):
        return effect.prompt.key.model_dump_json()
    return normalized(effect.candidate.code)
