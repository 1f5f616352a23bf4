"""The neighbourhoods of techniques, one or all added up, with or without one problem's share.

One statement reads a problem's shares before and after the sums. Where a writer changes that
problem meanwhile, the rows show it (written.py), and all other problems' shares of the pair are
added up instead. Not covered: another problem's commit may be seen in part.
"""

from collections.abc import Iterator
from dataclasses import replace

from regraph_kg.backends.bolt import GraphRow, Query
from regraph_kg.backends.evidence import Pair
from regraph_kg.backends.shares import ShareKey, is_empty, read
from regraph_kg.backends.statistics import RowCounts, RowKey, precedence, successor, tallies
from regraph_kg.backends.techniques import known
from regraph_kg.backends.written import same_state
from regraph_kg.models.graph import Neighbourhood, Successor
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique, start_id

_Tallies = dict[str, dict[RowKey, RowCounts]]
"""NEXT rows by target."""

_TECHNIQUE = {"id", "name", "target"}
_SHARE = {"pair", "device", "problem"}
"""Without these nothing can be read of a node."""


def neighbourhood(
    ask: Query, technique: str, device: str, limit: int, exclude_problem: str | None
) -> Neighbourhood:
    """See `graph.GraphStore`."""
    rows, by_target = _successor_rows(ask, technique, exclude_problem)
    nodes = {row["technique"]["id"]: row["technique"] for row in rows}
    ranked = sorted((precedence(counts), target) for target, counts in by_target.items())
    return Neighbourhood(
        technique,
        tuple(
            successor(Technique.model_validate(nodes[target]), by_target[target], device)
            for (given, learned), target in ranked
            if given or learned
        )[:limit],
    )


def pooled(
    ask: Query, target: Target, device: str, exclude_problem: str | None
) -> tuple[Successor, ...]:
    """See `graph.GraphStore`: a neighbourhood of each technique, added up by where it leads."""
    techniques = known(ask, target)
    sums: _Tallies = {technique.id: {} for technique in techniques}
    most: dict[str, tuple[int, str]] = {}
    for source in (start_id(target), *sums):
        _, by_target = _successor_rows(ask, source, exclude_problem)
        for id_, rows in by_target.items():
            examples = sum(tally.counts["examples"] for tally in rows.values())
            if id_ not in sums or not examples:
                continue
            if examples > most.get(id_, (0, ""))[0]:
                most[id_] = (examples, source)
            for origin, tally in rows.items():
                sums[id_].setdefault(origin, RowCounts()).add(tally)
    return tuple(
        replace(successor(t, sums[t.id], device), after=most.get(t.id, (0, ""))[1])
        for t in techniques
    )


def _successor_rows(
    ask: Query, technique: str, exclude_problem: str | None
) -> tuple[list[GraphRow], _Tallies]:
    """The successors of a technique, and its statistics by target."""
    problem = exclude_problem or ""  # no problem's name
    (answer,) = ask("neighbourhood", technique=technique, problem=problem)
    rows = _complete_rows(answer["rows"])
    before, after = (
        {node["id"]: node for node in answer[name] if "id" in node} for name in ("own", "own_then")
    )
    torn = set(_changed_pairs(before, after, rows))
    remaining: _Tallies = {}
    for row in rows:
        pair = Pair(technique, row["technique"]["id"])
        tallied = _subtract_shares(row["statistics"], after, problem)
        if tallied is None:
            torn.add(pair)
        else:
            remaining[pair.target] = tallied
    if torn:
        remaining |= _sum_others(ask, torn, problem)
    return rows, {row["technique"]["id"]: remaining[row["technique"]["id"]] for row in rows}


def _complete_rows(rows: list[GraphRow]) -> list[GraphRow]:
    """The rows without techniques in creation or deletion, of which Neo4j shows parts."""
    return [row for row in rows if row["technique"] and row["technique"].keys() >= _TECHNIQUE]


def _changed_pairs(
    before: dict[str, GraphRow], after: dict[str, GraphRow], rows: list[GraphRow]
) -> Iterator[Pair]:
    """Pairs of which a Share changed between its two reads, or has no NEXT."""
    ids = {node.get("id") for row in rows for node in row["statistics"]}
    for key in before.keys() | after.keys():
        lost = key not in after or (key.rpartition("\n")[0] not in ids and not is_empty(after[key]))
        if lost or before.get(key) != after[key]:
            yield Pair(*key.split(" ", 2)[:2])


def _subtract_shares(
    statistics: list[GraphRow], share_rows: dict[str, GraphRow], problem: str
) -> dict[RowKey, RowCounts] | None:
    """A pair's sums without the problem's shares; None where the two are of different states."""
    shares = {row.get("id"): share_rows.get(f"{row.get('id')}\n{problem}") for row in statistics}
    if not all(same_state(row, shares[row.get("id")], problem) for row in statistics):
        return None
    return {
        origin: tally if (share := shares[row["id"]]) is None else tally.less(read(share))
        for row in statistics
        for origin, tally in tallies([row]).items()
    }


def _sum_others(ask: Query, pairs: set[Pair], problem: str) -> _Tallies:
    """The sums of all other problems' shares: slower, but untouched by the problem's writers."""
    sums: _Tallies = {pair.target: {} for pair in pairs}
    for row in ask("shares", pairs=sorted(pair.id for pair in pairs)):
        if not row["share"].keys() >= _SHARE:  # in creation or deletion
            continue
        if row["share"]["problem"] == problem:
            continue
        key = ShareKey.read(row["share"])
        sums[key.pair.target].setdefault(key.origin, RowCounts()).add(read(row["share"]))
    return sums
