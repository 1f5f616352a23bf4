"""The protocol between sources of optimization steps and the judging of them.

A source proposes one step after the other and gets the verdict on each before it goes on: a model
repairs a failed step, a history only goes on. Not here: who judges (build.py).
"""

import hashlib
from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.text import plain
from regraph_kg.models.trajectory import Source

LABEL_CHARACTERS = 200
"""Length limit of a trajectory's label."""


@dataclass(frozen=True, slots=True)
class ProposedStep:
    """One step as its source reports it; `code` is the whole source file after it."""

    label: str
    code: str
    reasoning: str = ""
    detail: str = ""
    repairs: int = 0
    """Earlier tries of the same step that failed."""
    undoes: bool = False
    """Whether `code` is that before the step, which leads to the code proposed last; at first, the
    end of all."""


@dataclass(frozen=True, slots=True)
class StepJudgement:
    """Verdict on a proposed step; `outcome` is None where its code is not new."""

    outcome: Outcome | None
    diagnosis: str = ""
    speedup: float | None = None
    """Over the serial code; None where it was not timed."""

    @property
    def right(self) -> bool:
        """Whether later steps may build on it."""
        return self.outcome is not None and self.outcome.is_right


Proposals = Generator[ProposedStep, StepJudgement, str]
"""Steps in their order; returns, in words, why there are no more."""


class StepSource(Protocol):
    """The source of one trajectory."""

    @property
    def ref(self) -> str:
        """A name of its own, for the same source always the same."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Omissions before the judging, a line each."""

    def proposals(self) -> Proposals:
        """The steps. Raises `AnswersPending` where an answer is to come by file."""

    def source(self) -> Source:
        """Origin of the trajectory; known once the proposals have ended."""


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
