"""Serial refinement: a better version of the best code so far, told how earlier rounds ended.

A round asks for a new version of the best verified code so far. It is told the best version but the
current one, and the last rounds, oldest first, `FED_BACK` together: measured versions as changes of
that code with their speedup over it, failures with their diagnosis. A failure is mended by the next
round, as far as it is: there are no repair calls.

After `patience` rounds in which nothing became faster, all that is forgotten, and it begins again
from the serial code: a new leg. Rounds under way are fed back to their own leg when they end. One
that ends late, and is faster than all of the new leg, has its old leg taken up again.
"""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.method import MethodSettings
from regraph_kg.models.run import StepRecord
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.context import Context, Iteration
from regraph_kg.search.prompts.render import FailedAnswer, Variant, feedback_advice
from regraph_kg.search.sample import Request
from regraph_kg.search.world import Effects


class FsrSettings(MethodSettings):
    """Serial refinement: measured, fed back."""

    method: Literal["fsr"] = "fsr"
    patience: int = Field(default=4, ge=1)
    """Rounds without gain before it begins again from the serial code."""


# Rounds in a prompt at most: small models lose the thread in long ones (provisional).
FED_BACK = 4


@dataclass(slots=True, eq=False)
class _Leg:
    """Rounds from the serial code on; `best` is the fastest verified code, `speedup` its own."""

    start: str
    best: str = ""
    speedup: float = 1.0
    rounds: list[StepRecord] = field(default_factory=list)
    """Oldest first."""
    stale: int = 0
    """Rounds that ended since the last that made it faster."""

    def __post_init__(self) -> None:
        self.best = self.start

    def learn(self, step: StepRecord) -> None:
        """A round has ended."""
        self.rounds.append(step)
        if step.speedup is not None and step.code is not None and step.speedup > self.speedup:
            self.best, self.speedup, self.stale = step.code, step.speedup, 0
        else:
            self.stale += 1

    def take_back(self, fallen: StepRecord) -> None:
        """The best version failed the screening: the fastest of the others takes its place."""
        failed = {"outcome": fallen.outcome, "diagnosis": fallen.diagnosis, "speedup": None}
        self.rounds = [
            step.model_copy(update=failed) if step.code == fallen.code else step
            for step in self.rounds
        ]
        if self.best == fallen.code:
            right = [(step.speedup, step.code) for step in self.rounds if step.speedup is not None]
            self.speedup, best = max(right, default=(1.0, None), key=lambda one: one[0])
            self.best = best or self.start

    def history(self) -> list[Variant | FailedAnswer]:
        """The rounds for the next prompt, oldest first."""
        return [
            Variant(step.code, step.speedup / self.speedup)
            if step.speedup is not None and step.code is not None
            else FailedAnswer(step.outcome or Outcome.PARSE_FAILED, step.diagnosis, step.code)
            for step in chosen_rounds(self.rounds, self.best)
        ]


def chosen_rounds(rounds: list[StepRecord], best: str) -> list[StepRecord]:
    """The fastest of `rounds` whose code is not `best`, and the last others; none twice.

    At most `FED_BACK`, in the order of `rounds`. The current code itself is in the prompt anyway.
    """
    # two rounds that came to the same tell a model nothing new
    current = normalized(best)
    places: dict[str, int] = {}
    for place, step in enumerate(rounds):
        content = f"{step.outcome} {step.diagnosis}" if step.code is None else normalized(step.code)
        if content != current:
            places[content] = place
    distinct = sorted(places.values())
    verified = [place for place in distinct if rounds[place].speedup is not None]
    fastest = max(verified, key=lambda place: rounds[place].speedup or 0.0, default=None)
    last = [place for place in distinct if place != fastest]
    room = FED_BACK if fastest is None else FED_BACK - 1
    chosen = [*last[-room:], *([] if fastest is None else [fastest])]
    return [rounds[place] for place in sorted(chosen)]


class Fsr:
    """One search; an iteration is a round, its reward the speedup, 0 for a failure."""

    def __init__(self, context: Context, settings: FsrSettings) -> None:
        """Begins at the serial code."""
        self._context, self._settings = context, settings
        self._leg = _Leg(context.task.start)
        self._begun = 0
        self._answered = True

    def iteration(self) -> Effects[Iteration] | None:
        """Begin a round (see `Method`); none once a recorded model had no answer."""
        if not self._answered:
            return None
        if self._leg.stale >= self._settings.patience:
            self._leg = _Leg(self._context.task.start)
        self._begun += 1
        return self._round(self._leg, self._begun - 1)

    def _round(self, leg: _Leg, attempt: int) -> Effects[Iteration]:
        # failures are mended by being told: a repair would be another round under another name
        advice = feedback_advice(leg.history(), leg.best)
        request = Request((), None, attempt, leg.best, advice)
        step = yield from self._context.proposer.sample(request)
        if step.outcome is None:
            self._answered = False
            return Iteration((), (step,), None)
        if step.fell:
            leg.take_back(step)
            return Iteration((), (step,), None)
        leg.learn(step)
        # a late answer of an old leg beats what the new one has found so far
        if leg.stale == 0 and leg.speedup > self._leg.speedup:
            self._leg = leg
        return Iteration((), (step,), step.speedup or 0.0)
