"""The graph's next steps on a code: fitting techniques by their promise, with examples.

    found = next_steps(store, Question(code, after="openmp/start", target="openmp"))

The offers of a search (search/successors.py), ranked by what the graph foretells of them
(search/beliefs.py), which counts by half for what only may fit; techniques in the code come last.
"""

import math
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from regraph_kg.cpp.kinds import kind_of
from regraph_kg.models.graph import Likeness
from regraph_kg.models.next_steps import NextSteps, SuggestedStep, UnfitStep
from regraph_kg.models.target import Target
from regraph_kg.models.technique import start_id
from regraph_kg.models.transform import texts
from regraph_kg.search.beliefs import Foretelling, Foretold
from regraph_kg.search.fit.applied import shows
from regraph_kg.search.successors import ENOUGH, Offer, Successors

if TYPE_CHECKING:  # only wiring knows a store
    from regraph_kg.backends.store import GraphStore

MAY_FIT = 0.5  # how likely a technique fits of which the facts do not show it
MOST_SUCCESSORS = 256  # most successors of one technique that are read; none has more today
_OF_TECHNIQUE = ("name", "definition", "applies", "hurts")


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a graph about a code."""

    code: str
    after: str  # id of the technique that was applied last, or the target's start
    target: Target
    device: str = ""
    limit: int = 5  # techniques
    examples: int = 1  # most examples of each technique


def next_steps(store: "GraphStore", question: Question) -> NextSteps:
    """Steps to try next, each with the examples whose code was most like this one."""
    asked = {"device": question.device, "kind": kind_of(question.code)}
    neighbours = cache(partial(store.neighbourhood, **asked, limit=MOST_SUCCESSORS))
    pooled = cache(partial(store.pooled, question.target, **asked))
    enough = max(ENOUGH, question.limit)
    transforms = texts(store.transforms(question.target))
    start = start_id(question.target)
    graph = Successors(neighbours, pooled, start, enough, transforms=transforms)
    offers = graph.after(question.after, question.code)
    told = Foretelling(pooled(), neighbours(question.after).successors)

    device, most = question.device or None, question.examples
    examples = partial(store.examples, device=device, limit=most, near=Likeness(question.code))

    def in_code(offer: Offer) -> bool:
        return shows(offer.successor.technique, question.code)

    def foretold(offer: Offer) -> Foretold:
        ruled = bool(graph.made(offer.successor.technique, question.code))
        return told.of(offer.successor.technique.id, ruled=ruled)

    def place(offer: Offer) -> tuple[bool, bool, float]:
        likely = 1.0 if offer.fit.fits else MAY_FIT
        promise = likely * foretold(offer).promise
        return in_code(offer), not offer.follows, -promise

    steps = []
    for offer in (*sorted(offers.fitting, key=place), *offers.claimed)[: question.limit]:
        successor, technique = offer.successor, offer.successor.technique
        # pooled figures have no pair of their own: the pair with most of them shows examples
        nearest = examples(successor.after or question.after, technique.id)
        step = SuggestedStep(
            technique=technique.id,
            **{name: getattr(technique, name) for name in _OF_TECHNIQUE},
            expected=math.exp(foretold(offer).passes * foretold(offer).gain),
            transform=next((one.transform for one in graph.made(technique, question.code)), ""),
            effect=successor.here.effect,
            tried=successor.here.tried,
            verified=successor.here.right,
            alike=successor.alike.effect,
            alike_tried=successor.alike.tried,
            claims=successor.claimed.right,
            claimed=successor.claimed.effect,
            replays=successor.ruled.tried,
            replays_right=successor.ruled.right,
            replayed=successor.ruled.effect,
            examples=successor.examples,
            measured=successor.statistics,
            in_code=in_code(offer),
            fits=offer.fit.fits,
            why=offer.fit.why,
            follows=offer.follows,
            nearest=tuple(example.on(question.device) for example in nearest),
        )
        steps.append(step)
    unfit = ((offer.successor.technique, offer.fit.why) for offer in offers.unfit)
    left_out = (UnfitStep(technique=it.id, name=it.name, why=why) for it, why in unfit)
    asked_for = {name: getattr(question, name) for name in ("target", "after", "device")}
    return NextSteps(**asked_for, steps=tuple(steps), left_out=tuple(left_out))
