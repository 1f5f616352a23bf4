"""What the graph would try next on a code: its successors by what they promise, with examples.

    found = next_steps(store, Question(code, after="openmp/start", target="openmp"), vector)

Ranked as a search ranks what it has not tried (method.md 3.4). What the code shows already goes
last. Not here: where the code lies among embeddings (llm/embedder.py).
"""

import math
from dataclasses import dataclass

from regraph_kg.graph import GraphStore
from regraph_kg.models.graph import Successor, Vector
from regraph_kg.models.next_steps import NextSteps, StepExample, SuggestedStep
from regraph_kg.models.target import Target
from regraph_kg.search.code.applied import markers
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.methods.mcgs import McgsSettings
from regraph_kg.search.select import prior

MOST_SUCCESSORS = 256
"""Of one technique, so many are looked at; none has more today."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a graph about a code."""

    code: str
    after: str
    """Id of the technique that was applied last, or the target's start."""
    target: Target
    device: str = ""
    limit: int = 5
    """Techniques."""
    examples: int = 1
    """Of each; and so many of any technique."""
    exclude_problem: str | None = None


def next_steps(store: GraphStore, question: Question, vector: Vector | None) -> NextSteps:
    """What to try next; `vector` is where the code lies among codes, if the graph has such."""
    found = store.neighbourhood(
        question.after,
        device=question.device,
        limit=MOST_SUCCESSORS,
        exclude_problem=question.exclude_problem,
    )
    text = normalized(question.code)
    known = markers()
    shown = {id_ for id_, one in known.items() if one.told("", text)}
    ranked = sorted(found.successors, key=lambda one: (one.technique.id in shown, -_promise(one)))
    steps = tuple(
        _step(
            one, in_code=one.technique.id in shown, nearest=_nearest(store, question, one, vector)
        )
        for one in ranked[: question.limit]
    )
    return NextSteps(
        target=question.target,
        after=question.after,
        device=question.device,
        steps=steps,
        similar=_similar(store, question, vector),
    )


def _promise(successor: Successor) -> float:
    """The mean log gain of a try, before a run has tried it."""
    return prior(successor, _USUAL)


_USUAL = McgsSettings()


def _nearest(
    store: GraphStore, question: Question, successor: Successor, vector: Vector | None
) -> tuple[StepExample, ...]:
    found = store.examples(
        question.after,
        successor.technique.id,
        device=question.device or None,
        limit=question.examples,
        exclude_problem=question.exclude_problem,
        near=vector,
    )
    return tuple(StepExample.of(one, question.device) for one in found)


def _similar(
    store: GraphStore, question: Question, vector: Vector | None
) -> tuple[StepExample, ...]:
    """Steps of any technique that began with such code."""
    if vector is None:
        return ()
    found = store.nearest(
        vector,
        k=question.examples,
        target=question.target,
        exclude_problem=question.exclude_problem,
    )
    return tuple(StepExample.of(one, question.device) for one in found)


def _step(
    successor: Successor, *, in_code: bool, nearest: tuple[StepExample, ...]
) -> SuggestedStep:
    technique = successor.technique
    return SuggestedStep(
        technique=technique.id,
        name=technique.name,
        definition=technique.definition,
        applies=technique.applies,
        hurts=technique.hurts,
        expected=math.exp(_promise(successor)),
        effect=successor.effect,
        best=successor.best_effect,
        tried=successor.tried,
        verified=successor.verified,
        declined=successor.declined,
        examples=successor.examples,
        measured=successor.statistics,
        in_code=in_code,
        nearest=nearest,
    )
