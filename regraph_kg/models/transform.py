"""A transform as the graph keeps it: its text, and every replay of it."""

from collections.abc import Iterable

from pydantic import Field

from regraph_kg.models.base import Frozen
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.technique import TechniqueId

HALF = 0.5  # of a recorded gain's logarithm: with so much the step is reproduced


class Replay(Frozen):
    """A transform on the code before a recorded step: one result, judged at the grade full."""

    example: str  #: id of the TRANSITION: "trajectory/step"
    problem: str
    device: str
    evaluator: str
    outcome: Outcome
    gain: float | None = None  #: time before over after; None where it was not timed
    recorded: float = 1.0  #: the recorded step's, in the same session
    kind: str = ""  #: of the problem's serial code (cpp/kinds.py)

    @property
    def reproduces(self) -> bool:
        """Whether it is right, and has at least the half of the recorded gain."""
        least = max(self.recorded, 1.0) ** HALF
        return self.outcome is Outcome.PASSED and self.gain is not None and self.gain >= least


class StoredTransform(Frozen):
    """A transform of a technique; a draft until replays speak for it."""

    technique: TechniqueId
    name: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=100)
    text: str = Field(max_length=20_000)  #: search/transform/transform.py reads it
    accepted: bool = True
    reason: str = ""  #: why it is a draft
    replays: tuple[Replay, ...] = ()
    author: str = ""
    created: str = ""  #: UTC, ISO 8601; empty for a shipped one

    @property
    def id(self) -> str:
        """Its name in the graph."""
        return f"{self.technique}/{self.name}"


def texts(transforms: Iterable[StoredTransform]) -> dict[str, tuple[str, ...]]:
    """The texts of accepted ones, by technique."""
    found: dict[str, tuple[str, ...]] = {}
    for one in transforms:
        if one.accepted:
            found[one.technique] = (*found.get(one.technique, ()), one.text)
    return found
