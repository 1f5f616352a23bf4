"""A backup of a whole graph as JSONL, version 1: one `Head`, then `BackupLine`s, then an `End`.

Techniques, decisions, trajectories and runs of free choices come in this order, each kind by id. A
restore makes the derived rows (statistics, failures as nodes, the choice of TRANSITIONs); the next
ingest or `regraph graph update` makes the embeddings.

History: 1 (2026-11) first version; later in 1: `free`, absent from older backups.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from regraph_kg.models.base import Frozen
from regraph_kg.models.graph import EmbeddingSpace, FreeRun, RelabelStage
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Trajectory

FORMAT: Literal["regraph-kg backup"] = "regraph-kg backup"


Property = str | int | Annotated[float, Field(allow_inf_nan=False)] | bool | tuple[str, ...] | None
"""A value that a store takes, but for numbers of more than 64 bits."""
PropertyName = Annotated[str, Field(pattern=r"^[a-z_]{1,100}$")]
"""A property's name that no store takes for another thing."""
_LONGEST_ID = 1000


class Head(Frozen):
    """The first line."""

    format: Literal["regraph-kg backup"]
    version: Literal[1]
    bound: int = Field(ge=1, lt=2**31)
    embedding: EmbeddingSpace | None = None


class TrajectoryLine(Frozen):
    """A trajectory with its resolved techniques, and the graph's notes on it."""

    trajectory: Trajectory
    stages: tuple[RelabelStage, ...]
    """How each step's technique was found."""
    failed: tuple[str | None, ...] = ()
    """The time of each failure's merge, where noted."""

    @model_validator(mode="after")
    def _one_each(self) -> Self:
        if len(self.stages) != len(self.trajectory.steps):
            raise ValueError("as many stages as steps are needed")
        if len(self.failed) != len(self.trajectory.failures):
            raise ValueError("as many times as failures are needed")
        return self


class BackupLine(Frozen):
    """A line with exactly one of these."""

    technique: Technique | None = None
    decision: dict[PropertyName, Property] | None = None
    kept: TrajectoryLine | None = None
    free: FreeRun | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.model_fields_set) != 1 or self.kind is None:
            raise ValueError("exactly one of technique, decision, kept and free is needed")
        if self.decision is not None:
            name = self.decision.get("id")
            if not isinstance(name, str) or len(name) > _LONGEST_ID:
                raise ValueError("a decision has no id: give another backup")
        return self

    @property
    def kind(self) -> str | None:
        """The name of the one that it has."""
        return next((name for name, value in self if value is not None), None)


class End(Frozen):
    """The last line; a file without it is not whole."""

    lines: int = Field(ge=1)
    """Number of lines before this one."""
    sha256: str
    """Digest of all bytes before this line."""
