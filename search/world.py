"""World: the questions a search may ask, and nothing else it can touch; effects: those that cost.

An iteration of a method is a generator: it yields an effect, is sent the result, and goes on. All
its decisions are made between two effects, in one thread (driver.py). Who does effects, and when,
is decided elsewhere (executor.py).
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from regraph_kg.models.evaluation import Candidate, EvalReport, Grade
from regraph_kg.models.graph import Neighbourhood, Successor
from regraph_kg.models.prompt import Prompt, Reply

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class World:
    """The callables of a search, bound to one problem, target and device.

    They raise `RegraphError` for failures of ours; what a candidate does wrong is in its report.
    """

    neighbours: Callable[[str], Neighbourhood]  # technique id -> its successors
    # the two below are the only ones that cost anything
    complete: Callable[[Prompt], Reply]
    """Raises `AnswersPending` where the answer is to come by file: noted, and asked then.

    It and `evaluate` may be called by several threads at once, if the executor has them.
    """
    evaluate: Callable[[Candidate, float | None, Grade], EvalReport]
    """What the search learns from. The seconds are the best candidate's so far."""
    evaluate_final: Callable[[Candidate], EvalReport]  # full grade, fresh workers: what is reported
    pooled: Callable[[], tuple[Successor, ...]] = tuple  # all, after any technique
    transforms: Callable[[], Mapping[str, tuple[str, ...]]] = dict  # texts, by technique


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A call of the model, answered by a `Reply`."""

    prompt: Prompt


@dataclass(frozen=True, slots=True)
class Evaluate:
    """A verdict; timing may end early far above `incumbent_seconds`."""

    candidate: Candidate
    incumbent_seconds: float | None = None
    grade: Grade = "screening"


Effect = ModelRequest | Evaluate
Result = Reply | EvalReport
Effects = Generator[Effect, Result, T]  # with a result of type T: `result = yield from work`


def asked(prompt: Prompt) -> Effects[Reply]:
    # who runs the generator sends the result, so that methods know neither threads nor files
    reply = yield ModelRequest(prompt)
    assert isinstance(reply, Reply)
    return reply


def judged(
    candidate: Candidate, incumbent_seconds: float | None = None, grade: Grade = "screening"
) -> Effects[EvalReport]:
    # the incumbent's time lets the judge end a hopeless timing early
    report = yield Evaluate(candidate, incumbent_seconds, grade)
    assert isinstance(report, EvalReport)
    return report
