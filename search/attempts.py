"""What this run has tried and what came to nothing: at a code, and on the way to it.

Not here: how a transition fails (prompts/known_failures.py), which is told by its diagnosis;
answers without code, and steps that did something else than they were asked for: they say nothing
of the technique.
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
    def said(self) -> str:
        """What came of it, in a word."""
        return self.outcome.value if self.gain is None else f"{self.gain:.2f}x"


class Attempts:
    """Those of one run."""

    def __init__(self, limit: int) -> None:
        """A prompt is told of `limit` at most."""
        self._limit = limit
        self._at: dict[str, list[_Attempt]] = defaultdict(list)
        """By the code that they were tried on."""
        self._ended: dict[tuple[str, ...], _Attempt] = {}
        """By the path that they made."""

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

    def told(self, request: Request) -> str:
        """For a prompt that asks for a step: the newest first, no technique twice; "" for none.

        Failures of the technique asked for are told elsewhere, with their diagnoses.
        """
        asked = "" if request.technique is None else request.technique.id
        found: dict[str, _Attempt] = {}
        for one in self._all(request):
            if one.gain is not None or one.technique != asked:
                found.setdefault(one.technique, one)
        shown = [*found.values()][: self._limit]
        again = [fill("again", gain=one.said) for one in shown if one.technique == asked]
        others = [
            f"{short(one.name, _NAME_CHARACTERS)} ({one.said})"
            for one in shown
            if one.technique != asked
        ]
        return "\n".join([*again, *([fill("tried", tried=", ".join(others))] if others else [])])

    def _all(self, request: Request) -> Iterator[_Attempt]:
        yield from reversed(self._at.get(normalized(request.code), []))
        for length in range(len(request.path), 0, -1):
            if attempt := self._ended.get(request.path[:length]):
                yield attempt
