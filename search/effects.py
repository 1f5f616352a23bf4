"""The requests of a search to the world; who does them, and when, is decided elsewhere.

An iteration of a method is a generator: it yields an effect, is sent the result, and goes on. All
its decisions are made between two effects, in one thread (driver.py).
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

from regraph_kg.models.evaluation import Candidate, EvalReport
from regraph_kg.models.prompt import Prompt, Reply

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A call of the model, answered by a `Reply`."""

    prompt: Prompt


@dataclass(frozen=True, slots=True)
class Evaluate:
    """A verdict at the screening grade, answered by an `EvalReport`.

    `incumbent_seconds` is the best time of a call so far: timing may end early far above it.
    """

    candidate: Candidate
    incumbent_seconds: float | None = None


Effect = ModelRequest | Evaluate
Result = Reply | EvalReport
Effects = Generator[Effect, Result, T]
"""A generator of effects with a result of type T: `result = yield from work`."""


def asked(prompt: Prompt) -> Effects[Reply]:
    """Ask the model."""
    # who runs the generator sends the result, so that methods know neither threads nor files
    reply = yield ModelRequest(prompt)
    assert isinstance(reply, Reply)
    return reply


def judged(candidate: Candidate, incumbent_seconds: float | None = None) -> Effects[EvalReport]:
    """Judge a candidate."""
    # the incumbent's time lets the judge end a hopeless timing early
    report = yield Evaluate(candidate, incumbent_seconds)
    assert isinstance(report, EvalReport)
    return report
