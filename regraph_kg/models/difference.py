"""Differences of two graphs: trajectories, techniques, statistics.

Not here: how a graph is read (backends/difference.py).
"""

from dataclasses import dataclass
from typing import Literal

GraphPart = Literal["trajectories", "techniques", "statistics"]


@dataclass(frozen=True, slots=True)
class PartDifference:
    """One part of two graphs, A and B, by names: ids, or the row of a pair and a device."""

    part: GraphPart
    same: int
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    changed: tuple[str, ...]
    """In both, with other content."""

    @property
    def equal(self) -> bool:
        """Whether A and B agree."""
        return not (self.only_a or self.only_b or self.changed)
