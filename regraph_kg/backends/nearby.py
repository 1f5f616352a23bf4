"""The neighbourhood of a technique, with or without one problem's share of it.

What a problem contributed is read in the statement that reads the sums, before and after them: who
writes that problem meanwhile is noticed, and all is read again. Not covered: a server that shows
some of a commit before the rest (docs/dev/graph.md, section 3).
"""

from regraph_kg.backends.bolt import GraphRow, Query
from regraph_kg.backends.shares import ShareKey, read
from regraph_kg.backends.statistics import RowCounts, RowKey, precedence, successor, tallies
from regraph_kg.errors import StoreError
from regraph_kg.models.graph import Neighbourhood
from regraph_kg.models.technique import Technique

READINGS = 20
"""While somebody writes that very problem all the time."""

_Tallies = dict[str, dict[RowKey, RowCounts]]
"""NEXT rows by target."""


def neighbourhood(
    ask: Query, technique: str, device: str, limit: int, exclude_problem: str | None
) -> Neighbourhood:
    """See `graph.GraphStore`."""
    if exclude_problem is None:
        rows = ask("neighbourhood", technique=technique, limit=limit)
        by_target = {row["technique"]["id"]: tallies(row["statistics"]) for row in rows}
    else:
        rows, by_target = _without(ask, technique, exclude_problem)
    nodes = {row["technique"]["id"]: row["technique"] for row in rows}
    known = sorted((precedence(found), target) for target, found in by_target.items())
    return Neighbourhood(
        technique,
        tuple(
            successor(Technique.model_validate(nodes[target]), by_target[target], device)
            for (given, learned), target in known
            if given or learned
        )[:limit],
    )


def _without(ask: Query, technique: str, problem: str) -> tuple[list[GraphRow], _Tallies]:
    for _ in range(READINGS):
        (found,) = ask("neighbourhood_without", technique=technique, problem=problem)
        rows = [row for row in found["rows"] if row["technique"] is not None]
        left = _less(rows, found["own"], problem)
        if left is not None and _same(found["own"], found["own_then"]):
            return rows, left
    raise StoreError(f"graph store: {problem} is being written all the time; try again")


def _less(rows: list[GraphRow], own: list[GraphRow], problem: str) -> _Tallies | None:
    """What is left of the sums; None where they do not hold what they must."""
    by_target = {row["technique"]["id"]: tallies(row["statistics"]) for row in rows}
    for node in own:
        key = ShareKey.read(node)
        told = by_target.get(key.pair.target, {})
        if key.origin not in told:
            return None
        left = told[key.origin].less(read(node), problem)
        if any(left.counts[name] < 0 for name in ("examples", "tried", "verified", "declined")):
            return None
        told[key.origin] = left
    return by_target


def _same(some: list[GraphRow], others: list[GraphRow]) -> bool:
    return {one["id"]: one for one in some} == {one["id"]: one for one in others}
