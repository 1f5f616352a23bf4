"""What the stages of relabelling hand to each other: a shortlist in, a verdict out."""

from dataclasses import dataclass, replace

from regraph_kg.models.graph import Relabelled, RelabelStage
from regraph_kg.models.target import Target
from regraph_kg.models.technique import LONGEST_NAME, Technique, technique_id


@dataclass(frozen=True, slots=True)
class TechniqueCandidate:
    """A technique that a label may mean, and how near it is: a cosine of embeddings."""

    technique: Technique
    score: float


@dataclass(frozen=True, slots=True)
class Shortlist:
    """A label, and the techniques of its target that it may mean, best `score` first."""

    label: str
    target: Target
    candidates: tuple[TechniqueCandidate, ...]


@dataclass(frozen=True, slots=True)
class LabelVerdict:
    """What a label means; `coined` is the technique that a model described, if that is a new one.

    `pending`: the answer that decides comes by file, so that this one must not be used.
    """

    relabelled: Relabelled
    coined: Technique | None = None
    pending: bool = False


def merged(asked: Shortlist, technique: str, stage: RelabelStage) -> LabelVerdict:
    """The verdict that a label means a technique; the runner-up is what else was nearest."""
    scores = {candidate.technique.id: round(candidate.score, 4) for candidate in asked.candidates}
    score = scores.pop(technique, 0.0)
    rival, its = next(iter(scores.items()), (None, None))
    return LabelVerdict(Relabelled(asked.label, technique, stage, score, rival, its))


def new(asked: Shortlist) -> LabelVerdict:
    """The verdict that a label names a technique of its own."""
    found = merged(asked, technique_id(asked.target, asked.label), "new")
    return replace(found, relabelled=replace(found.relabelled, score=0.0))


def coined(target: Target, name: str, definition: str = "") -> Technique:
    """A technique of that name, made by an ingest: nobody has looked at it yet."""
    return Technique(
        id=technique_id(target, name),
        name=name.strip()[:LONGEST_NAME] or "unnamed",
        target=target,
        definition=definition,
        review=True,
    )


def joined(asked: Shortlist, label: str, technique: Technique, stage: RelabelStage) -> LabelVerdict:
    """The verdict that `label` names a technique that is new, as `stage` found; "new" if it leads.

    One that was joined has neither score nor runner-up: it was not measured, but said to be same.
    """
    if stage != "new":
        return LabelVerdict(Relabelled(label, technique.id, stage, 0.0), technique)
    found = new(replace(asked, label=label)).relabelled
    return LabelVerdict(replace(found, technique=technique.id), technique)
