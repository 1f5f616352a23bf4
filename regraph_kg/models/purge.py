"""Purge: the origin of purged contents, and their counts."""

from dataclasses import dataclass, fields
from typing import Literal


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of contents: a problem, the source's model, or the source's run."""

    by: Literal["problem", "model", "run"]
    value: str


@dataclass(frozen=True, slots=True)
class PurgeCounts:
    """Counts of deleted contents."""

    trajectories: int = 0
    examples: int = 0
    failures: int = 0
    techniques: int = 0
    """Techniques that an ingest made, without a review and without any use."""

    def __add__(self, other: "PurgeCounts") -> "PurgeCounts":
        """Both together."""
        sums = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return PurgeCounts(**sums)

    def __str__(self) -> str:
        # techniques are known only after the purge: none is no figure before it
        shown = [f.name for f in fields(self) if f.name != "techniques" or self.techniques]
        return ", ".join(f"{getattr(self, name)} {name}" for name in shown)
