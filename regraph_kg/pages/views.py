"""The values of pages, ready for a template or a script."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from regraph_kg.models.graph import Gain, Successor
from regraph_kg.models.technique import Technique


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call of the model for a step: prompt ("" where it is not known) and answer."""

    prompt: str
    answer: str


@dataclass(slots=True)
class Node:
    """A step in the tree of a search. The first one, 0, is the serial code."""

    id: int
    parent: int | None
    name: str
    """The technique's name, with the number of a later sample."""
    ended: str
    """The outcome in a word or two."""
    right: bool
    speedup: float | None = None
    gain: float | None = None
    """Gain over the code before."""
    call: int = 0
    answer: bool = False
    """Whether it is on the way to the answer, or to the best so far."""
    facts: dict[str, str] = field(default_factory=dict)
    """Other facts by name."""
    diagnosis: str = ""
    code: str = ""
    diff: str = ""
    """Diff to the code before."""
    turns: tuple[Exchange, ...] = ()


@dataclass(frozen=True, slots=True)
class Dot:
    """A step in the plots: calls and seconds so far, its speedup, None where it failed."""

    call: int
    at: float
    speedup: float | None
    name: str
    ended: str


@dataclass(frozen=True, slots=True)
class FailureRow:
    """Failures of one kind."""

    count: int
    ended: str
    diagnosis: str
    technique: str


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as its page shows it."""

    title: str
    file: str
    state: str
    headline: str
    speedup: float | None
    """The answer's final speedup, else the best screened one; None: nothing faster."""
    low: float | None
    high: float | None
    roofline: str
    share: float | None
    """Share of what the device allows, 0 to 1."""
    path: str
    code: str
    notes: tuple[str, ...]
    rows: Mapping[str, str]
    """Method and costs."""
    machine: Mapping[str, str]
    failures: tuple[FailureRow, ...]
    more_failures: int
    """Number of other kinds of failures."""
    bests: tuple[Dot, ...]
    dots: tuple[Dot, ...]
    nodes: tuple[Node, ...]
    commands: tuple[str, ...]
    """Commands that repeat the run."""
    system: str
    """The system prompt; "" where it is not known."""
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class GainRow:
    """A technique's gains by device; None where nobody tried it."""

    technique: Technique
    gains: tuple[Gain | None, ...]


@dataclass(frozen=True, slots=True)
class CodePair:
    """An example: code before and after a step, or what is disclosed of it in their place."""

    title: str
    before: str
    after: str
    diff: str
    reasoning: str


@dataclass(frozen=True, slots=True)
class TechniqueView:
    """A technique's own part of the page."""

    technique: Technique
    texts: Mapping[str, str]
    """Definition, when it applies and when it hurts, by heading."""
    successors: tuple[Successor, ...]
    """On all devices."""
    example: CodePair | None


@dataclass(frozen=True, slots=True)
class GraphView:
    """A graph as its page shows it."""

    totals: Mapping[str, str]
    devices: tuple[str, ...]
    rows: tuple[GainRow, ...]
    strongest: tuple[Gain, ...]
    techniques: tuple[TechniqueView, ...]
    names: Mapping[str, str]
    """Names of techniques by id."""
    notes: tuple[str, ...]
