"""Values of the graph's interface: merges (MergePlan) and answers (Neighbourhood, Example)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self

from pydantic import JsonValue

from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Trajectory

SCHEMA_VERSION = 3  # version of the graph's data model (cypher/schema.cypher)

EFFECT_SCALE = 2**20
"""Sums of log2 effects are integers, round(2^20 * log2 x): exact in any order of writers."""

UNTIMED = 0.0  # among `effects`: it passed there, with an unknown gain

UNMEASURED = "unmeasured"  # device of unmeasured steps, and of failures without a noted device

TRANSFORMS = "transforms"  # learner of steps that transforms made: they tell of no model

LEARNED_TRIES = 8  # tries learned from one model that count on an edge, whatever its other tries

RelabelLevel = Literal["exact", "model"]  # how far relabelling goes beyond known names

RelabelStage = Literal[RelabelLevel, "given", "alias", "new", "code", "lexical"]
"""The deciding stage; see ingest/relabel. "lexical" stands in older graphs."""


@dataclass(frozen=True, slots=True)
class Relabelled:
    """One step's label resolved to a technique, and how."""

    label: str
    technique: str
    stage: RelabelStage


@dataclass(frozen=True, slots=True)
class Likeness:
    """What examples are compared with: by the code before them, or by what is said of the step."""

    text: str
    kind: Literal["code", "words"] = "code"


@dataclass(frozen=True, slots=True)
class MergePlan:
    """One trajectory, resolved, ready to be merged in one transaction, and embedded later."""

    trajectory: Trajectory
    labels: tuple[Relabelled, ...]  # one for each of `trajectory.steps`
    failed_labels: tuple[Relabelled, ...] = ()  # one for each of `trajectory.failures`
    new: tuple[Technique, ...] = ()  # techniques that the store may not know yet
    created: str = ""  # when the plan was made; UTC, ISO 8601
    facts: tuple[tuple[str, ...], ...] = ()  # of each step the transforms that make it; (): unknown

    def path(self) -> tuple[str, ...]:
        """Technique ids from the start on; `len(steps) + 1` of them."""
        start = f"{self.trajectory.target}/start"
        return (start, *(r.technique for r in self.labels))


@dataclass(frozen=True, slots=True)
class StoredTrajectory:
    """A trajectory as a graph holds it: with resolved techniques, and how each step's was found."""

    trajectory: Trajectory
    stages: tuple[RelabelStage, ...]

    @property
    def unnamed(self) -> Trajectory:
        """The same, with those techniques of steps alone that the sender gave."""
        steps = zip(self.trajectory.steps, self.stages, strict=True)
        bare = (
            step if stage == "given" else step.model_copy(update={"technique": None})
            for step, stage in steps
        )
        return self.trajectory.model_copy(update={"steps": tuple(bare)})


@dataclass(frozen=True, slots=True)
class MergeCounts:
    """A merge's counts: trajectories added, already known, refused (ref clash), and the rest."""

    added: int = 0
    known: int = 0
    examples: int = 0
    techniques: int = 0
    measurements: int = 0
    failures: int = 0
    facts: int = 0  # new steps that a transform makes
    stories: Counter[str] = field(default_factory=Counter)  # the other ones, by technique
    conflicts: Mapping[str, str] = field(default_factory=dict)  # ids of refused ones, and why

    def __add__(self, other: "MergeCounts") -> "MergeCounts":
        names = [field.name for field in fields(self) if field.name != "conflicts"]
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return MergeCounts(**sums, conflicts={**self.conflicts, **other.conflicts})


@dataclass(frozen=True, slots=True)
class Tries:
    """Tries of a step, how many were right, and the sum of these ones' effects (`EFFECT_SCALE`)."""

    tried: int = 0
    right: int = 0
    sum_log2: int = 0

    @property
    def effect(self) -> float | None:
        """Geometric mean of the right ones' effects, if any."""
        return float(2 ** (self.sum_log2 / EFFECT_SCALE / self.right)) if self.right else None


@dataclass(frozen=True, slots=True)
class Successor:
    """A technique seen after another one, with its statistics.

    `examples` count over all devices; `statistics` says whose tries `here` are. Beside the asked
    device's stand the others' `elsewhere`. One model's learned tries count in either as
    `LEARNED_TRIES` at most, or as many as all other tries where those are more.
    """

    technique: Technique
    examples: int
    here: Tries
    statistics: Literal["device", "other-devices", "none"]
    elsewhere: Tries = Tries()
    alike: Tries = Tries()
    """The same on all devices, on codes of the asked kind (cpp/kinds.py) alone."""
    claimed: Tries = Tries()
    """What files say of it without a judge: shown, and counted among nothing else."""
    ruled: Tries = Tries()
    ruled_alike: Tries = Tries()
    """Transforms' replays and uses, which are in none of the figures above; on codes alike."""
    own: Tries = Tries()
    """Those of the figures above that the asked model made."""
    after: str = ""  # in pooled figures: the technique that it followed most


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The successors of one technique, most given examples first, then most learned, then by id."""

    technique: str
    successors: tuple[Successor, ...]
    claimed: tuple[Successor, ...] = ()  # those for which claims alone speak: the last choice


_ALWAYS_THERE = (
    *("id", "trajectory", "step", "problem", "verified", "verified_on", "effects"),
    *("reasoning", "detail", "original_label", "relabel_stage", "model", "licence", "created"),
)


@dataclass(frozen=True, slots=True)
class Example:
    """One seen step: a TRANSITION relationship.

    `outcome`, `speedup`, `effect`, `device` and `toolchain` are those of its latest measurement.
    """

    id: str
    source: str
    target: str
    problem: str
    before: str
    after: str
    reasoning: str
    detail: str
    original_label: str
    relabel_stage: str
    trajectory: str
    step: int
    verified: bool
    outcome: str | None
    speedup: float | None
    effect: float | None
    device: str | None
    toolchain: str | None
    model: str
    licence: str
    created: str
    similarity: float | None = None
    """Cosine, -1 to 1, of its words or code to what was asked about; None = not embedded."""
    learner: str | None = None  #: the model whose search it was learned from; None for a given one
    verified_on: tuple[str, ...] = ()  #: devices, sorted
    effects: tuple[float, ...] = ()  #: the latest on each of them; `UNTIMED` where unknown

    @classmethod
    def is_complete(cls, properties: Mapping[str, Any]) -> bool:
        """Whether all properties were read: a store reads one by one while others delete."""
        names = (*_ALWAYS_THERE, "before", "after")
        return all(properties.get(name) is not None for name in names)

    @classmethod
    def read(cls, properties: Mapping[str, Any]) -> "Example":
        """From a relationship's properties, and its ends and similarity."""
        values: dict[str, Any] = {field.name: properties.get(field.name) for field in fields(cls)}
        lists = ("verified_on", "effects")
        values |= {name: tuple(properties.get(name) or ()) for name in lists}
        return cls(**values)

    def on(self, device: str | None) -> Self:
        """The same step with the effect that is `seen_from` a device."""
        effect, where = self.seen_from(device) or (None, None)
        return replace(self, effect=effect, device=where)

    @property
    def effect_on(self) -> dict[str, float]:
        """The step's known effects by device."""
        both = zip(self.verified_on, self.effects, strict=True)
        return {device: effect for device, effect in both if effect != UNTIMED}

    def seen_from(self, device: str | None) -> tuple[float, str] | None:
        """The step's effect and its device: on `device`, else by its latest measurement.

        Where that did not pass, the best on another device; None: no effect is known.
        """
        effects = self.effect_on if self.verified else {}
        if device in effects:
            return effects[device], device
        if self.verified and self.device is not None and self.effect is not None:
            return self.effect, self.device
        best = max(effects, key=lambda where: (effects[where], where), default=None)
        return None if best is None else (effects[best], best)


@dataclass(frozen=True, slots=True)
class GraphStats:
    """Totals of a store; initial states are no techniques, `pairs` have at least one example."""

    product: str
    schema_version: int
    techniques: int
    transitions: int
    pairs: int
    trajectories: int
    targets: Mapping[Target, int]  # trajectories per target

    def __str__(self) -> str:
        by_target = ", ".join(f"{count} {target}" for target, count in sorted(self.targets.items()))
        return (
            f"techniques    {self.techniques}\n"
            f"transitions   {self.transitions} examples of {self.pairs} pairs\n"
            f"trajectories  {self.trajectories}{f' ({by_target})' if by_target else ''}\n"
            f"schema        {self.schema_version}"
        )


@dataclass(frozen=True, slots=True)
class GraphTable:
    """A person's own query answered: columns by name; a node is its labels and properties."""

    columns: Sequence[str]
    rows: Sequence[Sequence[JsonValue]]
    cut: bool  # whether there were more rows than were asked for
