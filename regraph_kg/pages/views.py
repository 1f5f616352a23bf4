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
    """Whether it lies on the way to the answer."""
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
    settings: Mapping[str, str]
