"""The data between the stages of relabelling: a shortlist in, a verdict out."""

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
    """The meaning of a label; `coined` is the new technique that a model described, if any."""

    relabelled: Relabelled
    coined: Technique | None = None


def merged(shortlist: Shortlist, technique: str, stage: RelabelStage) -> LabelVerdict:
    """The verdict that a label means a technique; the runner-up is what else was nearest."""
    scores = {item.technique.id: round(item.score, 4) for item in shortlist.candidates}
    score = scores.pop(technique, 0.0)
    rival, its = next(iter(scores.items()), (None, None))
    return LabelVerdict(Relabelled(shortlist.label, technique, stage, score, rival, its))


def new(shortlist: Shortlist) -> LabelVerdict:
    """The verdict that a label names a technique of its own."""
    verdict = merged(shortlist, technique_id(shortlist.target, shortlist.label), "new")
    return replace(verdict, relabelled=replace(verdict.relabelled, score=0.0))


def coined(target: Target, name: str, definition: str = "") -> Technique:
    """An unreviewed technique of that name, made by an ingest."""
    return Technique(
        id=technique_id(target, name),
        name=name.strip()[:LONGEST_NAME] or "unnamed",
        target=target,
        definition=definition,
        review=True,
    )


def joined(
    shortlist: Shortlist, label: str, technique: Technique, stage: RelabelStage
) -> LabelVerdict:
    """The verdict that `label` names a technique that is new, as `stage` found; "new" if it leads.

    One that was joined has neither score nor runner-up: it was not measured, but said to be same.
    """
    if stage != "new":
        return LabelVerdict(Relabelled(label, technique.id, stage, 0.0), technique)
    relabelled = new(replace(shortlist, label=label)).relabelled
    return LabelVerdict(replace(relabelled, technique=technique.id), technique)
