"""The answer to a person's own query of the graph."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue


@dataclass(frozen=True, slots=True)
class GraphTable:
    """Columns by name, rows in their order; a node is its labels and properties."""

    columns: Sequence[str]
    rows: Sequence[Sequence[JsonValue]]
    cut: bool
    """Whether there were more rows than were asked for."""
