"""The seam between what tells of optimization steps and what has them judged.

A source proposes one step after the other and is told how each was judged before it goes on: a
model repairs what failed, a history only goes on. Not here: who judges (build.py).
"""

import hashlib
from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.text import plain
from regraph_kg.models.trajectory import Source

LABEL_CHARACTERS = 200
"""As many as a label of a trajectory may have."""
RIGHT = (Outcome.PASSED, Outcome.UNSTABLE_TIMING)
"""Outcomes of code that gives right answers; what was timed too noisily is measured again."""


@dataclass(frozen=True, slots=True)
class ProposedStep:
    """One step as its source tells it; `code` is the whole source file after it."""

    label: str
    code: str
    reasoning: str = ""
    detail: str = ""
    repairs: int = 0
    """Earlier tries of the same step that failed."""


@dataclass(frozen=True, slots=True)
class StepJudgement:
    """How a proposed step was judged; `outcome` is None where its code says nothing new."""

    outcome: Outcome | None
    diagnosis: str = ""
    speedup: float | None = None
    """Over the serial code; None where it was not timed."""

    @property
    def right(self) -> bool:
        """Whether it is a step that others may stand on."""
        return self.outcome in RIGHT


Proposals = Generator[ProposedStep, StepJudgement, str]
"""Steps in their order; returns, in words, why there are no more."""


class StepSource(Protocol):
    """What one trajectory is made from."""

    @property
    def ref(self) -> str:
        """A name of its own, for the same source always the same."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out before anything was judged, a line each."""

    def proposals(self) -> Proposals:
        """The steps. Raises `AnswersPending` where an answer is to come by file."""

    def source(self) -> Source:
        """Where the trajectory comes from; known once the proposals have ended."""


def label_of(text: str) -> str:
    """`text` as a step's label: one plain line, cut."""
    return " ".join(plain(text).split())[:LABEL_CHARACTERS].strip()


def ref_of(text: str) -> str:
    """`text` as a trajectory's ref: one plain line, whose end is a hash where it had to be cut."""
    ref = " ".join(plain(text).split())
    if len(ref) <= LABEL_CHARACTERS and ref == text:
        return ref
    mark = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]
    return f"{ref[: LABEL_CHARACTERS - len(mark) - 1]}~{mark}"
