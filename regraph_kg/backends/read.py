"""Answers about the graph: neighbourhoods, failures, rows, exports.

A search leaves out its own problem: what that problem's trajectories contribute is summed when it
asks, and subtracted from NEXT. Not covered: on Neo4j a reader may meet a commit while it is
applied, so that counts may for an instant be one trajectory off; they are never negative.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from regraph_kg.backends import evidence
from regraph_kg.backends.bolt import Bolt, GraphRow, Query
from regraph_kg.backends.evidence import Pair
from regraph_kg.backends.statistics import (
    COUNTS,
    Counts,
    RowKey,
    precedence,
    read_counts,
    successor,
    together,
)
from regraph_kg.errors import StoreError
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import (
    KnownFailure,
    Neighbourhood,
    StoredTrajectory,
    Successor,
    TransitionStats,
)
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique, start_id

PAGE = 500  # trajectories read at a time
READINGS = 20  # tries to read a page that writers keep changing
_TECHNIQUE = {"id", "name", "target"}
"""Without these a technique is being made or deleted: Neo4j shows it in part."""

_ByPair = dict[Pair, dict[RowKey, Counts]]


def techniques(ask: Query, target: Target | None = None) -> tuple[Technique, ...]:
    """The techniques by id, of all targets or one, without the initial states."""
    every = (Technique.model_validate(row["technique"]) for row in ask("techniques"))
    return tuple(
        technique
        for technique in every
        if target in (None, technique.target) and technique.id != start_id(technique.target)
    )


def neighbourhood(
    ask: Query, technique: str, device: str, limit: int, exclude_problem: str | None
) -> Neighbourhood:
    """See `graph.GraphStore`."""
    # Neo4j may show a technique that another transaction makes or deletes, in part.
    rows = [
        row
        for row in ask("neighbourhood", technique=technique)
        if row["technique"].keys() >= _TECHNIQUE
    ]
    nodes = {row["technique"]["id"]: row["technique"] for row in rows}
    known = _without(
        ask,
        ((Pair(technique, row["technique"]["id"]), row["statistics"]) for row in rows),
        f"{technique} ",
        exclude_problem,
    )
    ranked = sorted((precedence(counts), pair.target) for pair, counts in known.items())
    return Neighbourhood(
        technique,
        tuple(
            successor(
                Technique.model_validate(nodes[target]), known[Pair(technique, target)], device
            )
            for (given, learned), target in ranked
            if given or learned
        )[:limit],
    )


def pooled(
    ask: Query, target: Target, device: str, exclude_problem: str | None
) -> tuple[Successor, ...]:
    """See `graph.GraphStore`."""
    wanted = {technique.id: technique for technique in techniques(ask, target)}
    rows = ask("transitions", prefix=f"{target}/")
    known = _without(
        ask,
        ((Pair.of(row), row["statistics"]) for row in rows),
        f"{target}/",
        exclude_problem,
    )
    start = start_id(target)
    sums: defaultdict[str, dict[RowKey, Counts]] = defaultdict(dict)
    most: dict[str, tuple[int, str]] = {}
    # Of sources with as many examples the start counts: it is where a search begins.
    for pair, by_key in sorted(known.items(), key=lambda row: (row[0].source != start, row[0])):
        examples = sum(counts["examples"] for counts in by_key.values())
        if pair.target not in wanted or not examples:
            continue
        if examples > most.get(pair.target, (0, ""))[0]:
            most[pair.target] = (examples, pair.source)
        for key, counts in by_key.items():
            sums[pair.target].setdefault(key, Counts()).update(counts)
    return tuple(
        replace(successor(technique, sums[key], device), after=most.get(key, (0, ""))[1])
        for key, technique in wanted.items()
    )


def _without(
    ask: Query,
    rows: Iterator[tuple[Pair, dict[str, Any]]],
    source: str,
    problem: str | None,
) -> _ByPair:
    """NEXT rows by pair, without what a problem's trajectories contribute to those from `source`.

    NEXT is read first: a trajectory that comes between the two reads is subtracted too much,
    never left in.
    """
    known: _ByPair = {}
    for pair, properties in rows:
        if "device" in properties:  # else it is being made
            known.setdefault(pair, {})[RowKey.of(properties)] = read_counts(properties)
    own = ask("own_counts", problem=problem, source=source) if problem else []
    for row in own:
        ends, _, device = row["counted"].partition("\t")
        rows_of_pair = known.get(Pair(*ends.split(" ")), {})
        counts = rows_of_pair.get(RowKey(device, row["learner"]), Counts())
        for name in COUNTS:
            counts[name] -= row[name]
            if name != "sum_log2_effect":
                counts[name] = max(counts[name], 0)
    return known


def failures(
    ask: Query, pair: Pair, exclude_problem: str | None, limit: int
) -> tuple[KnownFailure, ...]:
    """See `graph.GraphStore`."""
    rows = ask("failures", pair=pair.id, exclude_problem=exclude_problem, limit=limit)
    return tuple(
        KnownFailure(**row | {"outcome": Outcome(row["outcome"])}) for row in rows if row["before"]
    )  # else the code is not disclosed, nor what failed there


def transitions(ask: Query) -> tuple[TransitionStats, ...]:
    """See `graph.GraphStore`."""
    by_device: dict[tuple[Pair, str], dict[RowKey, Counts]] = {}
    for row in ask("transitions", prefix=""):  # ordered by pair and device, and so is the answer
        key = RowKey.of(row["statistics"])
        place = (Pair.of(row), key.device)
        by_device.setdefault(place, {})[key] = read_counts(row["statistics"])
    answer = []
    for (pair, device), rows in by_device.items():
        counts = together(rows)
        numbers = {name: counts[name] for name in COUNTS}
        answer.append(TransitionStats(pair.source, pair.target, device, **numbers))
    return tuple(answer)


def stored(bolt: Bolt) -> Iterator[StoredTrajectory]:
    """Every trajectory by id; those merged meanwhile may or may not be among them.

    One that is shown without its (:Steps), while a writer's commit is applied, is read again.
    """
    last = ""
    # A transaction for each page: a whole graph does not fit in memory.
    while page := bolt.read(partial(page_of_trajectories, after=last, limit=PAGE)):
        yield from page
        last = page[-1].trajectory.id


def page_of_trajectories(ask: Query, after: str, limit: int) -> list[StoredTrajectory]:
    """The next trajectories by id."""
    torn = ""
    for _ in range(READINGS):
        rows = ask("page_of_trajectories", after=after, limit=limit)
        torn = next((row["trajectory"]["id"] for row in rows if not row["steps"]), "")
        if not torn:
            return _with_codes(ask, rows) if rows else []
    raise StoreError(
        f"graph store: the steps of trajectory {torn[:12]} are missing; unless somebody writes it"
        " all the time, the graph is damaged: ingest an export or your files into an empty one"
    )


def _with_codes(ask: Query, rows: list[GraphRow]) -> list[StoredTrajectory]:
    ends = {"first": rows[0]["trajectory"]["id"], "last": rows[-1]["trajectory"]["id"]}
    failed = ask("failures_of_trajectories", **ends)
    codes = {row["id"]: row["code"] for row in failed if row["code"] is not None}
    return [
        StoredTrajectory(
            evidence.trajectory(row["trajectory"], row["steps"], codes),
            tuple(row["steps"]["stages"]),
        )
        for row in rows
    ]
