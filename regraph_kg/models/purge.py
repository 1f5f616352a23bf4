"""Purge: what is to go out of a graph again, and how much that is."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where something came from.

    `by`: a problem; the model that is named as its source; or the source's run.
    """

    by: Literal["problem", "model", "run"]
    value: str


@dataclass(frozen=True, slots=True)
class PurgeCounts:
    """What goes, or went."""

    trajectories: int = 0
    examples: int = 0
    failures: int = 0
    free_runs: int = 0
    techniques: int = 0
    """Made by an ingest, reviewed by nobody, and without a use since."""
    names: int = 0
    """Log entries of labels that nothing has any more, and the aliases that they taught."""

    def __add__(self, other: "PurgeCounts") -> "PurgeCounts":
        """Both together."""
        return PurgeCounts(
            self.trajectories + other.trajectories,
            self.examples + other.examples,
            self.failures + other.failures,
            self.free_runs + other.free_runs,
            self.techniques + other.techniques,
            self.names + other.names,
        )
