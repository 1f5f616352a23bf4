"""Writes facts in one transaction each: merges; NEXT follows by addition.

Only the transaction that created a trajectory's node writes its steps; a later sender adds only
measurements and failures. A contradicting one is refused.

NEXT rows are linear sums of what trajectories contribute (`statistics.contribution`), so that a
merge adds, and no order of writers matters (ADR 0035). Locks are taken in this order, in each
statement sorted by id: trajectories, techniques, NEXT.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from regraph_kg.backends import statistics
from regraph_kg.backends.bolt import GraphRow, Query
from regraph_kg.backends.evidence import (
    Evidence,
    Pair,
    example,
    latest,
    node,
    steps_node,
    trajectory,
)
from regraph_kg.errors import StoreError
from regraph_kg.models.graph import MergeCounts, MergePlan, StoredTrajectory
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import FailedStep

_FAILURE = set(FailedStep.model_fields) - {"technique", "code"}
_TAUGHT = ("hurts", "family", "needs", "pointless", "leaves", "recipe", "steps", "source")
"""Properties that known techniques get where they lack them, besides aliases."""
READINGS = 20  # tries to read a page that writers keep changing


@dataclass(frozen=True, slots=True)
class Arrival:
    """One trajectory of a batch."""

    key: str  # `Trajectory.id`
    plan: MergePlan
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Addition:
    """New measurements and failures of a known trajectory."""

    arrival: Arrival
    before: Evidence
    after: Evidence


def merge(ask: Query, plans: Sequence[MergePlan]) -> MergeCounts:
    """Merge a batch inside the transaction of `ask`."""
    return sum((_merged(ask, batch) for batch in _rounds(plans)), MergeCounts())


def _rounds(plans: Sequence[MergePlan]) -> Iterator[list[Arrival]]:
    """The trajectories of a batch, sorted by id, no id and no ref twice in a round."""
    rest = list(plans)
    while rest:
        batch: dict[str, Arrival] = {}
        refs: set[str] = set()
        later: list[MergePlan] = []
        # So a copy, or other content under the same ref, finds the first one in the graph.
        for plan in rest:
            key, ref = plan.trajectory.id, plan.trajectory.ref
            if key in batch or ref in refs:
                later.append(plan)
                continue
            batch[key] = Arrival(key, plan, Evidence.of(plan))
            refs |= {ref} if ref is not None else set()
        yield [batch[key] for key in sorted(batch)]
        rest = later


def _merged(ask: Query, batch: Sequence[Arrival]) -> MergeCounts:
    # Before anything is written: a refused trajectory must not make techniques.
    conflicts = _ref_clashes(ask, batch)
    accepted = {arrival.key: arrival for arrival in batch if arrival.key not in conflicts}
    new = [technique for arrival in accepted.values() for technique in arrival.plan.new]
    created = create_techniques(ask, new)
    nodes = {
        key: node(one.plan.trajectory, key, one.evidence)
        | statistics.trajectory_counts(one.evidence)
        for key, one in accepted.items()
    }
    rows = [{"id": key, "properties": properties} for key, properties in nodes.items()]
    claimed = ask("claim_trajectories", rows=rows)
    added = [accepted[row["id"]] for row in claimed if row["new"]]
    additions = list(_additions(accepted, [row for row in claimed if not row["new"]]))
    _create_examples(ask, added, nodes)
    _write_additions(ask, additions)
    failures = _failures(added, additions)
    if failures:
        ask("write_failures", rows=failures)
    extend_techniques(ask, new)
    growth: statistics.NextRows = {}
    for arrival in added:
        statistics.add(growth, statistics.contribution(arrival.evidence))
    for addition in additions:
        # A newer judge's measurement replaces older ones: what counted before is taken out whole.
        statistics.add(growth, statistics.contribution(addition.after))
        statistics.add(growth, statistics.contribution(addition.before), -1)
    # Last, as every writer wants these locks.
    _add_to_next(ask, growth)
    return MergeCounts(
        added=len(added),
        known=len(claimed) - len(added),
        examples=sum(len(arrival.plan.trajectory.steps) for arrival in added),
        techniques=created,
        measurements=sum(arrival.evidence.measured() for arrival in added)
        + sum(addition.after.measured() - addition.before.measured() for addition in additions),
        failures=len(failures),
        facts=sum(map(bool, chain.from_iterable(arrival.plan.facts for arrival in added))),
        stories=Counter(
            label.technique
            for arrival in added
            for label, made in zip(arrival.plan.labels, arrival.plan.facts, strict=False)
            if not made
        ),
        conflicts=conflicts,
    )


def _additions(batch: Mapping[str, Arrival], known: Sequence[GraphRow]) -> Iterator[Addition]:
    """What a batch adds to the known trajectories of some rows."""
    for row in known:
        arrival, before = batch[row["id"]], Evidence.read(row)
        after = before.plus(arrival.evidence.measurements, arrival.evidence.failures)
        if after != before:
            yield Addition(arrival, before, after)


def _ref_clashes(ask: Query, batch: Sequence[Arrival]) -> dict[str, str]:
    """Ids to refuse, with the reason: their ref names other content."""
    refs = {arrival.key: arrival.plan.trajectory.ref for arrival in batch}
    rows = [{"id": key, "ref": ref} for key, ref in refs.items() if ref]
    return {
        row["id"]: f"ref {refs[row['id']]!r} already names other content"
        f" (trajectory {row['other'][:12]})"
        for row in (ask("ref_clashes", rows=rows) if rows else ())
    }


def _create_examples(ask: Query, added: Sequence[Arrival], nodes: Mapping[str, GraphRow]) -> None:
    """Write the texts of new trajectories' steps; step k is an example of technique k."""
    texts = [steps_node(arrival.plan, arrival.key) for arrival in added]
    if not texts:
        return
    ask("create_steps", rows=texts)
    rows = [
        pair._asdict()
        | {"properties": example(nodes[one.key], steps, number, one.evidence, one.plan.facts)}
        for one, steps in zip(added, texts, strict=True)
        for number, pair in enumerate(one.evidence.pairs, 1)
    ]
    # Writers that lock in one order cannot deadlock.
    rows.sort(key=lambda row: (Pair.of(row), row["properties"]["id"]))
    if ask("create_transitions", rows=rows)[0]["written"] != len(rows):
        refuse_missing(ask, (end for row in rows for end in Pair.of(row)))


def _write_additions(ask: Query, additions: Sequence[Addition]) -> None:
    """Give known trajectories, and their examples, what their new measurements decide."""
    if not additions:
        return
    ask(
        "set_evidence",
        rows=[
            {
                "id": one.arrival.key,
                "properties": one.after.stored() | statistics.trajectory_counts(one.after),
            }
            for one in additions
        ],
    )
    rows = [
        one.after.pairs[at]._asdict()
        | {"properties": {"id": f"{one.arrival.key}/{at + 1}"} | latest(measured)}
        for one in additions
        for at, measured in enumerate(one.after.measurements)
        if measured != one.before.measurements[at]
    ]
    rows.sort(key=lambda row: (Pair.of(row), row["properties"]["id"]))
    if rows:
        ask("update_transitions", rows=rows)


def _failures(added: Sequence[Arrival], additions: Sequence[Addition]) -> list[dict[str, Any]]:
    """The (:Failure) nodes of new failures, sorted by id."""
    new = [(arrival, arrival.evidence) for arrival in added]
    for addition in additions:
        failures = addition.after.failures[len(addition.before.failures) :]
        new.append((addition.arrival, replace(addition.after, failures=failures)))
    rows = [
        {
            "id": f"{arrival.key}/{failure.key}",
            "created": arrival.plan.created,
            "properties": {
                "pair": pair.id,
                **pair._asdict(),
                "trajectory": arrival.key,
                "problem": arrival.plan.trajectory.problem,
                "code": failure.code or None,
                **failure.model_dump(mode="json", include=_FAILURE),
            },
        }
        for arrival, evidence in new
        for failure, pair in evidence.failed
    ]
    return sorted(rows, key=lambda row: str(row["id"]))


def _add_to_next(ask: Query, growth: statistics.NextRows) -> None:
    """Add to NEXT rows, made where they are missing; rows that count nothing any more go."""
    changed = {place: counts for place, counts in growth.items() if any(counts.values())}
    if not changed:
        return
    places = {
        statistics.row_id(*place): {"id": statistics.row_id(*place), **place[0]._asdict()}
        for place in sorted(changed, key=lambda place: statistics.row_id(*place))
    }
    claimed = ask("claim_next", rows=list(places.values()))
    locked = {row["statistics"]["id"]: row["statistics"] for row in claimed}
    if len(locked) != len(places):
        refuse_missing(ask, (end for pair, _ in changed for end in pair))
    kept, empty = [], []
    for (pair, key), counts in changed.items():
        place = places[statistics.row_id(pair, key)]
        counts.update(statistics.read_counts(locked[place["id"]]))
        if any(counts.values()):
            kept.append(place | {"properties": statistics.row_properties(key, counts)})
        else:
            empty.append(place)
    if kept:
        ask("set_next", rows=kept)
    if empty:
        ask("delete_next", rows=empty)


def refuse_missing(ask: Query, ids: Iterable[str]) -> None:
    """Raise for the techniques of `ids` that the graph lacks, which undoes the transaction."""
    wanted = set(ids)
    known = {row["id"] for row in ask("read_techniques", ids=sorted(wanted))}
    raise StoreError(
        f"merge: neither the graph nor the plan knows {', '.join(sorted(wanted - known))}; nothing"
        " was written"
    )


def create_techniques(ask: Query, techniques: Iterable[Technique]) -> int:
    """Make unknown techniques; return their number. Known ones are neither written nor locked."""
    rows = [
        {"id": t.id, "properties": t.model_dump(exclude={"id"})}
        for t in sorted(set(techniques), key=lambda technique: technique.id)
    ]
    if not rows:
        return 0
    added: list[str] = ask("add_techniques", techniques=rows)[0]["added"]
    if added:
        ask("label_techniques", ids=sorted(added))
    return len(added)


def extend_techniques(ask: Query, techniques: Sequence[Technique]) -> None:
    """Give known techniques the names and texts that they lack."""
    lacking = _missing_properties(ask, techniques)
    if not lacking:
        return
    ask("lock_techniques", ids=sorted(lacking))
    # Read again under the lock: another writer may have taught them meanwhile.
    taught = _missing_properties(ask, [t for t in techniques if t.id in lacking])
    rows = [{"id": key, "properties": taught[key]} for key in sorted(taught)]
    if rows:
        ask("write_techniques", rows=rows)
        ask("label_techniques", ids=[row["id"] for row in rows])


def _missing_properties(
    ask: Query, techniques: Sequence[Technique]
) -> dict[str, dict[str, object]]:
    """Properties that known techniques lack, by id, with further aliases."""
    rows = ask("read_techniques", ids=sorted({t.id for t in techniques})) if techniques else []
    current: dict[str, Technique] = {}
    for key, properties in ((row["id"], row["technique"]) for row in rows):
        # Neo4j shows one in creation in part, and it is read again under a lock.
        parts = {"id": key, "name": key, "target": key.partition("/")[0]}
        current[key] = Technique.model_validate(parts | dict(properties))
    taught: dict[str, dict[str, object]] = {}
    for technique in techniques:
        if (now := current.get(technique.id)) is None:
            continue
        missing = {name: getattr(technique, name) for name in _TAUGHT if not getattr(now, name)}
        missing["aliases"] = tuple(dict.fromkeys((*now.aliases, *technique.aliases)))
        current[technique.id] = after = now.model_copy(update=missing)
        if after != now:
            taught.setdefault(technique.id, {}).update(missing)
    return taught


def page_of_trajectories(ask: Query, after: str, limit: int) -> list[StoredTrajectory]:
    """The next trajectories by id; read again where a writer's commit is being applied."""
    rows, torn = list[GraphRow](), ""
    for _ in range(READINGS):
        rows = ask("page_of_trajectories", after=after, limit=limit)
        torn = next((row["trajectory"]["id"] for row in rows if not row["steps"]), "")
        if not torn:
            break
    if torn:
        raise StoreError(
            f"graph store: the steps of trajectory {torn[:12]} are missing; unless somebody writes"
            " it all the time, the graph is damaged: ingest an export or your files into an empty"
            " one"
        )
    if not rows:
        return []
    ends = {"first": rows[0]["trajectory"]["id"], "last": rows[-1]["trajectory"]["id"]}
    failed = ask("failures_of_trajectories", **ends)
    codes = {row["id"]: row["code"] for row in failed if row["code"] is not None}
    return [
        StoredTrajectory(
            trajectory(row["trajectory"], row["steps"], codes), tuple(row["steps"]["stages"])
        )
        for row in rows
    ]
