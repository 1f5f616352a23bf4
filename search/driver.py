"""The driver: keeps iterations of a method under way, and gives each the results it waits for.

It decides nothing about the search and does nothing of it: the method decides between two effects,
an executor (executor.py) does them. All of it happens in one thread, so that the order in which
results come in decides everything; a trace holds that order, and a resumed run repeats it
(trace.py).

Equal code is judged once, also while it is being judged. A call whose answer is to come by file
(`AnswersPending`) stays under way; what does not wait for it goes on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from regraph_kg.cpp.tokens import normalized
from regraph_kg.errors import AnswersPending
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.context import Iteration, Method
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.world import Effect, Effects, ModelRequest, Result


@dataclass(frozen=True, slots=True)
class Finished:
    """An effect and what came of it; None: the answer is to come by file."""

    effect: Effect
    result: Result | None
    at: float = 0.0  # the run's active seconds then, where there is a trace


class Executor(Protocol):
    """Does effects, several at once."""

    def start(self, effect: Effect) -> None:
        """Begin an effect."""

    def finish(self) -> Finished:
        """Wait for the next to end. Raises what the world raises."""


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
        self._iteration = 0
        self._best = 1.0
        self._waiting: dict[str, list[Effects[Iteration]]] = {}
        self._asking = self._pending = 0

    def run(self) -> Iterator[SimulationRecord]:
        """One record an iteration, as they end; `AnswersPending` last if an answer is missing."""
        if self._first is not None:
            yield self._record(self._first)
        while True:
            while self._has_room() and (work := self._method.iteration()) is not None:
                yield from self._advance(work, None)
            # only answers by file are waited for: no effect of ours will end
            if len(self._waiting) == self._pending:
                break
            finished = self._executor.finish()
            if finished.result is None:
                self._pending += 1  # it keeps its place among those under way
                continue
            self._ledger.seconds = finished.at
            self._asking -= isinstance(finished.effect, ModelRequest)
            # equal effects were begun once: all that wait for one go on with its result
            for work in self._waiting.pop(_name(finished.effect)):
                yield from self._advance(work, finished.result)
        if self._pending:
            raise AnswersPending(f"{self._pending} answers are to come by file")

    def _has_room(self) -> bool:
        under_way = sum(len(works) for works in self._waiting.values())
        free = self._asking < self._parallel and under_way < self._most
        return free and self._ledger.left > 0

    def _advance(
        self, work: Effects[Iteration], result: Result | None
    ) -> Iterator[SimulationRecord]:
        """Let an iteration go on to its next effect, or to its end."""
        try:
            effect = next(work) if result is None else work.send(result)
        except StopIteration as end:
            yield self._record(end.value)
            return
        name = _name(effect)
        if name in self._waiting:
            self._waiting[name].append(work)
            return
        self._waiting[name] = [work]
        self._asking += isinstance(effect, ModelRequest)
        self._executor.start(effect)

    def _record(self, ended: Iteration) -> SimulationRecord:
        """Number an iteration, and remember the best speedup so far."""
        self._best = max(self._best, *(step.speedup or 0.0 for step in ended.steps))
        record = SimulationRecord(
            iteration=self._iteration,
            path=ended.path,
            steps=ended.steps,
            reward=ended.reward,
            spent=self._ledger.spent.verdicts,  # on whosever samples have ended by now
            best_speedup=self._best,
        )
        # one that tried nothing is not counted: the next has its number
        self._iteration += ended.reward is not None
        return record


def _name(effect: Effect) -> str:
    """Equal for effects of which one suffices."""
    if isinstance(effect, ModelRequest):
        return effect.prompt.key.model_dump_json()
    return normalized(effect.candidate.code)
