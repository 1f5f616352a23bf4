"""The graph's next steps on a code: fitting techniques by their promise, with examples.

    found = next_steps(store, Question(code, after="openmp/start", target="openmp"), vector)

The offers of a search (search/successors.py), ranked by its beliefs before a try
(search/beliefs.py). Techniques in the code go last. Not here: the code's place among
embeddings (llm/embedder.py).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from regraph_kg.models.graph import Vector
from regraph_kg.models.next_steps import NextSteps, SuggestedStep, UnfitStep
from regraph_kg.models.target import Target
from regraph_kg.models.technique import start_id
from regraph_kg.search.beliefs import Beliefs
from regraph_kg.search.fit.applied import shows
from regraph_kg.search.successors import ENOUGH, Offer, Successors

if TYPE_CHECKING:  # only wiring knows a store
    from regraph_kg.backends.store import GraphStore

MOST_SUCCESSORS = 256  # most successors of one technique that are read; none has more today


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a graph about a code."""

    code: str
    after: str  # id of the technique that was applied last, or the target's start
    target: Target
    device: str = ""
    limit: int = 5  # techniques
    examples: int = 1  # most examples of each technique


def next_steps(store: "GraphStore", question: Question, vector: Vector | None) -> NextSteps:
    """Steps to try next; `vector` is the code's embedding, if the graph has embeddings."""
    offers = _successors(store, question).after(question.after, question.code)
    promises = _promises(question, offers.fitting)

    def in_code(offer: Offer) -> bool:
        return shows(offer.successor.technique, question.code)

    def place(offer: Offer) -> tuple[bool, bool, float]:
        return in_code(offer), not offer.follows, -promises[offer.successor.technique.id]

    steps = []
    for offer in sorted(offers.fitting, key=place)[: question.limit]:
        successor, technique = offer.successor, offer.successor.technique
        # pooled figures have no pair of their own: the pair with most of them shows examples
        nearest = store.examples(
            successor.after or question.after,
            technique.id,
            device=question.device or None,
            limit=question.examples,
            near=vector,
        )
        step = SuggestedStep(
            technique=technique.id,
            name=technique.name,
            definition=technique.definition,
            applies=technique.applies,
            hurts=technique.hurts,
            expected=math.exp(promises[technique.id]),
            effect=successor.effect,
            tried=successor.tried,
            verified=successor.verified,
            declined=successor.declined,
            examples=successor.examples,
            measured=successor.statistics,
            in_code=in_code(offer),
            fits=offer.fit.fits,
            why=offer.fit.why,
            follows=offer.follows,
            nearest=tuple(example.on(question.device) for example in nearest),
        )
        steps.append(step)
    return NextSteps(
        target=question.target,
        after=question.after,
        device=question.device,
        steps=tuple(steps),
        left_out=tuple(
            UnfitStep(
                technique=offer.successor.technique.id,
                name=offer.successor.technique.name,
                why=offer.fit.why,
            )
            for offer in offers.unfit
        ),
    )


def _successors(store: "GraphStore", question: Question) -> Successors:
    """The graph as a search reads it."""
    neighbours = partial(store.neighbourhood, device=question.device, limit=MOST_SUCCESSORS)
    pooled = partial(store.pooled, question.target, device=question.device)
    enough = max(ENOUGH, question.limit)
    return Successors(neighbours, pooled, start_id(question.target), enough)


def _promises(question: Question, offers: Sequence[Offer]) -> Mapping[str, float]:
    """Technique id -> the mean log gain of a try, before a run has tried it."""
    beliefs = Beliefs(start_id(question.target))
    edges = [beliefs.edge(question.after, offer.successor, i) for i, offer in enumerate(offers)]
    outlooks = {edge.target: beliefs.outlook(edge) for edge in edges}
    # failed tries gain nothing: what passes seldom promises little, however much it gains then
    return {name: outlook.passes * outlook.gain for name, outlook in outlooks.items()}
