"""What the stages of relabelling hand to each other: a shortlist in, a verdict out."""

from dataclasses import dataclass, replace
from typing import Protocol

from regraph_kg.models.graph import Relabelled, RelabelStage
from regraph_kg.models.target import Target
from regraph_kg.models.technique import LONGEST_NAME, Technique, technique_id


@dataclass(frozen=True, slots=True)
class TechniqueCandidate:
    """A technique that a label may mean, and how near to it each signal is.

    `lexical` and `embedded` are cosines (of character n-grams, of embeddings; the latter 0 where
    nothing embeds); `score` fuses the ranks that they give, 1 = first by all.
    """

    technique: Technique
    score: float
    lexical: float
    embedded: float = 0.0


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


class Stage(Protocol):
    """One way of recognizing a technique under a name that the vocabulary does not list."""

    def __call__(self, asked: Shortlist) -> LabelVerdict | None:
        """The verdict on a label, or None: the next stage decides.

        A function of its argument, so that a label means the same technique every time.
        """


def merged(
    asked: Shortlist, chosen: TechniqueCandidate, stage: RelabelStage, signal: str
) -> LabelVerdict:
    """The verdict that a label means `chosen`, scored by one of a candidate's signals."""
    others = [one for one in asked.candidates if one is not chosen]
    rival = max(others, key=lambda one: float(getattr(one, signal)), default=None)
    return LabelVerdict(
        Relabelled(
            asked.label,
            chosen.technique.id,
            stage,
            round(getattr(chosen, signal), 4),
            rival.technique.id if rival else None,
            round(getattr(rival, signal), 4) if rival else None,
        )
    )


def new(asked: Shortlist) -> LabelVerdict:
    """The verdict that a label names a technique of its own; the runner-up is what was nearest."""
    nearest = max(asked.candidates, key=lambda one: one.lexical, default=None)
    return LabelVerdict(
        Relabelled(
            asked.label,
            technique_id(asked.target, asked.label),
            "new",
            0.0,
            nearest.technique.id if nearest else None,
            round(nearest.lexical, 4) if nearest else None,
        )
    )


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
    found = replace(new(replace(asked, label=label)).relabelled, technique=technique.id)
    if stage != "new":
        found = replace(found, stage=stage, runner_up=None, runner_up_score=None)
    return LabelVerdict(found, technique)
