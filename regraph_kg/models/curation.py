"""Curation: a person's changes of the vocabulary, their log, and the findings that ask for them."""

import hashlib
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from regraph_kg.models.base import Frozen
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique, TechniqueId

CurationKind = Literal["merge", "split", "rename", "describe", "drop", "keep", "undo"]


@dataclass(frozen=True, slots=True)
class Note:
    """Who makes a curation, and why."""

    who: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A technique that a curator makes of a part of another one.

    Empty fields follow from the first label that it takes, and from its name.
    """

    name: str = ""
    id: str = ""
    definition: str = ""


class Changed(Frozen):
    """A technique before and after a curation; None = it was not there."""

    before: Technique | None
    after: Technique | None

    @property
    def id(self) -> TechniqueId:
        """Its id; a change of id is two of these."""
        return (self.before or self.after).id  # type: ignore[union-attr]


class Transfer(Frozen):
    """Steps and failures of `source` that lead to `heir` from now on.

    `names`: the spellings of the moved labels; None = all labels.
    """

    source: TechniqueId
    heir: TechniqueId
    names: frozenset[str] | None = None


class Change(Frozen):
    """A curation's change of techniques' properties and of steps' techniques."""

    techniques: tuple[Changed, ...] = ()
    transfers: tuple[Transfer, ...] = ()


@dataclass(frozen=True, slots=True)
class Curation:
    """One entry of the curators' log.

    `number` counts the curations of a graph from 1 on. `techniques`: the changed ones, the
    remaining one first. `labels`: those that a `keep` confirmed, or that a `split` took.
    """

    number: int
    kind: CurationKind
    who: str
    why: str
    created: str
    """UTC, ISO 8601."""
    summary: str
    techniques: tuple[str, ...]
    labels: tuple[str, ...] = ()
    examples: int = 0
    """Number of moved examples."""
    failures: int = 0
    undoes: int | None = None
    undone_by: int | None = None
    """The curation that undid it, if that still holds."""


@dataclass(frozen=True, slots=True)
class LabelDecision:
    """One entry of the relabelling's log: a label's technique, once per target."""

    label: str
    target: Target
    technique: str
    stage: str
    score: float
    runner_up: str | None
    runner_up_score: float | None
    model: str
    created: str


@dataclass(frozen=True, slots=True)
class TechniqueUsage:
    """A graph's counts of one technique."""

    technique: Technique
    examples: int
    """Examples of steps to it."""
    tried: int
    """Measurements and failures of steps to it."""
    leaving: int
    """Examples of steps from it."""
    labels: tuple[str, ...] = ()
    """The two commonest labels of its best examples."""


ConcernKind = Literal["shared-name", "low-margin", "suspect", "review", "orphan", "undescribed"]


class Concern(Frozen):
    """Something in the vocabulary that a curator should look at, and the commands that mend it."""

    kind: ConcernKind
    techniques: tuple[str, ...]
    examples: tuple[int, ...]
    """Number of examples of each technique."""
    labels: tuple[tuple[str, ...], ...]
    """Labels of each technique's examples, two at most."""
    score: float | None = None
    about: str = ""
    commands: tuple[tuple[str, ...], ...] = Field(min_length=1)
    """Words of `regraph` commands, the one most likely wanted first."""


class Proposal(Frozen):
    """A curation that an audit proposes."""

    kind: Literal["merge", "keep", "drop"]
    techniques: tuple[str, ...] = Field(min_length=1)
    """In a merge the remaining one comes first."""
    alias: str = ""
    """A name that a kept technique rightly has."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its `regraph` command."""
        more = ("--alias", self.alias) if self.alias else ()
        return ("techniques", "mend", self.kind, *self.techniques, *more)


class Cluster(Frozen):
    """Findings about the same techniques, or of one kind, with proposals for them."""

    techniques: tuple[str, ...]
    """Most examples first."""
    examples: tuple[int, ...]
    labels: tuple[tuple[str, ...], ...]
    findings: tuple[Concern, ...] = Field(min_length=1)
    proposals: tuple[Proposal, ...]
    """Empty where a person must decide."""
    moved: int
    """Examples that the proposals move."""

    @property
    def token(self) -> str:
        """Identity of these proposals for these examples; it changes with either."""
        return token_of(self.model_dump_json(exclude={"labels", "findings"}))


def token_of(*parts: str) -> str:
    """Eight hexadecimal digits."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]
