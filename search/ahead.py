"""The edges that a run knows, and the gain that steps along them may still bring.

The look-ahead of method.md 3.2: V_h(u), over the graph's edges with their beliefs at one moment,
for any code. Not here: beliefs (beliefs.py), the choice of a step (methods/mcgs.py).
"""

from dataclasses import dataclass, field

from regraph_kg.models.graph import Successor
from regraph_kg.models.technique import Technique, free_id
from regraph_kg.search.beliefs import (
    Beliefs,
    BelievedEdge,
    Outlook,
    expected_improvement,
)
from regraph_kg.search.context import Context

SEEN_AHEAD = 32
"""Edges of a technique that a look-ahead sees: the first of its neighbourhood."""


class Edges:
    """The edges that were read so far, by their source."""

    def __init__(self, context: Context, beliefs: Beliefs) -> None:
        self._context, self.beliefs = context, beliefs
        self.free_name = free_id(context.task.target)
        self.read: dict[str, list[BelievedEdge]] = {}
        self._free: dict[str, BelievedEdge] = {}
        self._others: dict[tuple[str, str], BelievedEdge] = {}
        """Edges that the graph does not have, by source and target."""

    def after(self, technique: str) -> list[BelievedEdge]:
        """The graph's edges from a technique, read once."""
        if technique not in self.read:
            following = self._context.neighbours(self.source(technique)).successors
            self.read[technique] = [
                self._believed(technique, edge, rank) for rank, edge in enumerate(following)
            ]
        return self.read[technique]

    def source(self, technique: str) -> str:
        """The technique whose successors follow: the start's after a free choice."""
        return self.beliefs.start if technique == self.free_name else technique

    def find(self, source: str, target: str) -> BelievedEdge | None:
        """The edge between two techniques, if the graph has it or it was offered."""
        edges = (edge for edge in self.after(source) if edge.target == target)
        return next(edges, self._others.get((source, target)))

    def offered(self, technique: str, code: str) -> list[tuple[Technique, BelievedEdge]]:
        """The techniques for `code`, which `technique` led to, each with its edge."""
        offers = []
        for successor in self._context.successors(self.source(technique), code):
            edge = self.find(technique, successor.technique.id)
            if edge is None:
                edge = self._believed(technique, successor, len(self.after(technique)))
                self._others[technique, successor.technique.id] = edge
            offers.append((successor.technique, edge))
        return offers

    def free_edge(self, technique: str, rank: int) -> BelievedEdge:
        """The edge of a free choice."""
        if technique not in self._free:
            self._free[technique] = BelievedEdge(technique, self.free_name, 0.0, 0.0, 0.0, rank)
        return self._free[technique]

    def _believed(self, technique: str, successor: Successor, rank: int) -> BelievedEdge:
        freely = technique == self.free_name
        believed = self.beliefs.after_free if freely else self.beliefs.edge
        return believed(technique, successor, rank)


@dataclass(slots=True)
class Row:
    """An edge and the belief in it at one moment."""

    edge: BelievedEdge
    outlook: Outlook

    def worth(self, following: float) -> float:
        """Worth of two tries, when `following` may be gained after the step."""
        passes = 1 - (1 - self.outlook.passes) ** 2
        return passes * expected_improvement(self.outlook.gain + following, self.outlook.spread)


@dataclass(slots=True)
class Ahead:
    """The possible gain after a technique, as believed at one moment."""

    edges: "Edges"
    horizon: int
    discount: float
    rows: dict[str, list[Row]] = field(default_factory=dict)
    tables: list[dict[str, float]] = field(default_factory=list)
    """tables[k][technique]: what k steps may gain, were none on the path already."""

    def __post_init__(self) -> None:
        for technique in self.edges.read:
            self.see(technique)
        self.tables = [dict.fromkeys(self.rows, 0.0)]
        for _ in range(self.horizon):
            last = self.tables[-1]
            self.tables.append({u: self._best(u, frozenset(), last) for u in self.rows})

    def see(self, technique: str) -> list[Row]:
        """The edges from it."""
        if technique not in self.rows:
            edges = self.edges.after(technique)[:SEEN_AHEAD]
            self.rows[technique] = [Row(e, self.edges.beliefs.outlook(e)) for e in edges]
        return self.rows[technique]

    def bound(self, technique: str, steps: int) -> float:
        """No less than `gain`; quick where the technique's edges were read before."""
        bound = self.tables[steps].get(technique)
        return self.gain(technique, frozenset(), steps) if bound is None else bound

    def gain(self, technique: str, used: frozenset[str], steps: int) -> float:
        """V of `steps` steps after it, the techniques `used` left out of the first of them."""
        return self._best(technique, used, self.tables[steps - 1]) if steps > 0 else 0.0

    def _best(self, technique: str, used: frozenset[str], after: dict[str, float]) -> float:
        share = self.discount
        return max(
            (
                row.worth(share * after.get(row.edge.target, 0.0))
                for row in self.see(technique)
                if row.edge.target not in used
            ),
            default=0.0,
        )
