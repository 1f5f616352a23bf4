"""The values of pages, ready for a template or a script."""

from collections.abc import Mapping
from dataclasses import dataclass, field


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
class GraphView:
    """A graph as its page shows it: tables whose cells are text."""

    totals: str
    note: str
    devices: tuple[str, ...]
    techniques: tuple[tuple[str, ...], ...]
    """Each technique's name and id, then a gain on each device."""
    strongest: tuple[tuple[str, ...], ...]
    """A technique, the one after it, the device, the gain."""
