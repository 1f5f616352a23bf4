"""What the pages show: values that a template or a script only has to write down."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call of the model for a step: what was asked, "" where that is not known, and said."""

    prompt: str
    answer: str


@dataclass(slots=True)
class Node:
    """A step in the tree of a search. The first one, 0, is the serial code."""

    id: int
    parent: int | None
    name: str
    """Of the technique; with its number, where it is not the first sample."""
    ended: str
    """How it ended, in a word or two."""
    right: bool
    speedup: float | None = None
    gain: float | None = None
    """Over the code before."""
    call: int = 0
    answer: bool = False
    """Whether it lies on the way to the answer, or to the best so far."""
    facts: dict[str, str] = field(default_factory=dict)
    """What else is known, by name."""
    diagnosis: str = ""
    code: str = ""
    diff: str = ""
    """To the code before."""
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
    """What went wrong in one way."""

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
    """Of the answer, measured again; else the best so far, as screened; None: nothing faster."""
    low: float | None
    high: float | None
    roofline: str
    share: float | None
    """Of what the device allows, 0 to 1."""
    path: str
    code: str
    notes: tuple[str, ...]
    rows: Mapping[str, str]
    """How it came about, and what it cost."""
    machine: Mapping[str, str]
    failures: tuple[FailureRow, ...]
    more_failures: int
    """Other ways in which something went wrong."""
    bests: tuple[Dot, ...]
    dots: tuple[Dot, ...]
    nodes: tuple[Node, ...]
    commands: tuple[str, ...]
    """How it is done again."""
    system: str
    """What stands before every prompt; "" where that is not known."""
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class GainCell:
    """What something brought: a geometric mean, None where nothing was verified, of how many."""

    mean: float | None
    best: float | None
    verified: int
    tried: int


@dataclass(frozen=True, slots=True)
class GainRow:
    """A technique in the table of techniques and devices; a cell is None where nobody tried it."""

    id: str
    name: str
    target: str
    cells: tuple[GainCell | None, ...]


@dataclass(frozen=True, slots=True)
class PairRow:
    """A technique after another one, on one device."""

    source: str
    target: str
    device: str
    gain: GainCell


@dataclass(frozen=True, slots=True)
class CodePair:
    """An example: code before and after a step, or what is disclosed of it in their place."""

    title: str
    before: str
    after: str
    diff: str
    reasoning: str


@dataclass(frozen=True, slots=True)
class Follower:
    """A technique that was seen after another one, on all devices."""

    id: str
    name: str
    examples: int
    declined: int
    gain: GainCell


@dataclass(frozen=True, slots=True)
class TechniqueView:
    """A technique's own part of the page."""

    id: str
    name: str
    target: str
    texts: Mapping[str, str]
    """What it is, when it applies and hurts, by heading."""
    followers: tuple[Follower, ...]
    example: CodePair | None


@dataclass(frozen=True, slots=True)
class GraphView:
    """A graph as its page shows it."""

    totals: Mapping[str, str]
    devices: tuple[str, ...]
    rows: tuple[GainRow, ...]
    strongest: tuple[PairRow, ...]
    techniques: tuple[TechniqueView, ...]
    names: Mapping[str, str]
    """Of techniques, by id."""
    notes: tuple[str, ...]
