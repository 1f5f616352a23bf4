"""The run's fruitless attempts: at a code, and on the way to it.

Not here: diagnoses of a transition's failures (prompts/known_failures.py); answers without code and
steps that did something else than they were asked for, which say nothing about the technique.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.run import StepRecord
from regraph_kg.search.ask import Request
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.prompts.examples import fill, short
from regraph_kg.search.prompts.render import SAME_SPEED

_NAME_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class _Attempt:
    technique: str
    name: str
    outcome: Outcome
    gain: float | None
    """Speedup over the code that it was tried on; None where it failed."""

    @property
    def result(self) -> str:
        """The result in a word."""
        return self.outcome.value if self.gain is None else f"{self.gain:.2f}x"


class Attempts:
    """The fruitless attempts of one run."""

    def __init__(self, limit: int) -> None:
        """A prompt lists `limit` attempts at most."""
        self._limit = limit
        self._at: dict[str, list[_Attempt]] = defaultdict(list)
        """By the code before them."""
        self._ended: dict[tuple[str, ...], _Attempt] = {}
        """By the path to their code."""

    def add(self, request: Request, step: StepRecord, speedup: float) -> None:
        """Remember a step where it came to nothing; `speedup` is that of the code before it."""
        technique = request.technique
        if technique is None or step.outcome is None or step.code is None:
            return
        gain = None if step.speedup is None else step.speedup / speedup
        unknown = gain is None and step.outcome is Outcome.UNSTABLE_TIMING
        if step.applied == "other" or unknown or (gain is not None and gain >= SAME_SPEED):
            return
        attempt = _Attempt(technique.id, technique.name, step.outcome, gain)
        self._at[normalized(request.code)].append(attempt)
        if gain is not None:
            self._ended[step.path] = attempt

    def text(self, request: Request) -> str:
        """The text for a step's prompt: newest first, no technique twice; "" for none.

        Failures of the technique asked for are told elsewhere, with their diagnoses.
        """
        technique = "" if request.technique is None else request.technique.id
        newest: dict[str, _Attempt] = {}
        for attempt in self._all(request):
            if attempt.gain is not None or attempt.technique != technique:
                newest.setdefault(attempt.technique, attempt)
        shown = [*newest.values()][: self._limit]
        again = [fill("again", gain=item.result) for item in shown if item.technique == technique]
        different = [
            f"{short(item.name, _NAME_CHARACTERS)} ({item.result})"
            for item in shown
            if item.technique != technique
        ]
        tried = [fill("tried", tried=", ".join(different))] if different else []
        return "\n".join([*again, *tried])

    def _all(self, request: Request) -> Iterator[_Attempt]:
        yield from reversed(self._at.get(normalized(request.code), []))
        for length in range(len(request.path), 0, -1):
            if attempt := self._ended.get(request.path[:length]):
                yield attempt
