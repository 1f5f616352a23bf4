"""Merges plans in one write transaction: claim the trajectories, then write what is new.

A trajectory's steps are written by the transaction that created its node, and by no other; whoever
else sends it adds only measurements. Rows are sorted before they touch the graph, so that
concurrent writers take locks in one order.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from regraph_kg.backends.bolt import Ask
from regraph_kg.backends.evidence import Evidence, latest, node
from regraph_kg.backends.statistics import COUNTS, share, total
from regraph_kg.errors import StoreError
from regraph_kg.models.graph import MergeCounts, MergePlan
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class Arrival:
    """One trajectory of a batch, its doubles in the batch folded in."""

    key: str
    """`Trajectory.id`."""
    plan: MergePlan
    evidence: Evidence
    doubles: int = 0

    @property
    def trajectory(self) -> Trajectory:
        """What the plan is for."""
        return self.plan.trajectory


@dataclass(frozen=True, slots=True)
class Addition:
    """New measurements of a known trajectory."""

    arrival: Arrival
    before: Evidence
    after: Evidence


def arrivals(plans: Sequence[MergePlan]) -> dict[str, Arrival]:
    """The trajectories of a batch by id, sorted by it."""
    found: dict[str, Arrival] = {}
    for plan in plans:
        key = plan.trajectory.id
        evidence = Evidence.of(plan)
        if key in found:
            first = found[key]
            merged = first.evidence.plus(evidence.measurements)
            found[key] = replace(first, evidence=merged, doubles=first.doubles + 1)
        else:
            found[key] = Arrival(key, plan, evidence)
    return dict(sorted(found.items()))


def merge(ask: Ask, batch: Mapping[str, Arrival]) -> MergeCounts:
    """Merge a batch inside the transaction of `ask`."""
    conflicts = _ref_clashes(ask, batch)
    accepted = {key: arrival for key, arrival in batch.items() if key not in conflicts}
    new = (technique for arrival in accepted.values() for technique in arrival.plan.new)
    techniques = add_techniques(ask, new)
    rows = [
        {"id": key, "properties": node(arrival.trajectory, key, arrival.evidence)}
        for key, arrival in accepted.items()
    ]
    claimed = ask("claim_trajectories", rows=rows)
    added = [accepted[row["id"]] for row in claimed if row["new"]]
    additions = _additions(accepted, [row for row in claimed if not row["new"]])
    _create_transitions(ask, added)
    _write_additions(ask, additions)
    _add_to_next(ask, added, additions)
    return MergeCounts(
        added=len(added),
        known=len(claimed) - len(added) + sum(arrival.doubles for arrival in accepted.values()),
        examples=sum(len(arrival.trajectory.steps) for arrival in added),
        techniques=techniques,
        measurements=sum(arrival.evidence.measured() for arrival in added)
        + sum(one.after.measured() - one.before.measured() for one in additions),
        conflicts=conflicts,
    )


def add_techniques(ask: Ask, techniques: Iterable[Technique]) -> int:
    """Add the unknown ones, extend the aliases of the others; count the new ones."""
    rows = [
        {
            "id": technique.id,
            "aliases": list(technique.aliases),
            "properties": technique.model_dump(exclude={"id"}) | {"aliases": technique.aliases},
        }
        for technique in sorted(set(techniques), key=lambda technique: technique.id)
    ]
    if not rows:
        return 0
    return int(ask("add_techniques", techniques=rows)[0]["added"])


def _ref_clashes(ask: Ask, batch: Mapping[str, Arrival]) -> dict[str, str]:
    """Ids to refuse, with the reason: their ref names other content, stored or in this batch."""
    refs = {key: one.trajectory.ref for key, one in batch.items() if one.trajectory.ref}
    if not refs:
        return {}
    rows = [{"id": key, "ref": ref} for key, ref in refs.items()]
    others = {row["id"]: row["other"] for row in ask("ref_clashes", rows=rows)}
    first: dict[str, str] = {}
    for arrival in batch.values():
        ref = arrival.trajectory.ref
        if ref is not None and arrival.key not in others:
            holder = first.setdefault(ref, arrival.key)
            if holder != arrival.key:
                others[arrival.key] = holder
    return {
        key: f"ref {refs[key]!r} already names other content (trajectory {other[:12]})"
        for key, other in others.items()
    }


def _additions(batch: Mapping[str, Arrival], known: Iterable[Mapping[str, Any]]) -> list[Addition]:
    """What the batch adds to known trajectories."""
    additions = []
    for row in known:
        arrival, before = batch[row["id"]], Evidence.read(row)
        after = before.plus(arrival.evidence.measurements)
        if after != before:
            additions.append(Addition(arrival, before, after))
    return additions


def _create_transitions(ask: Ask, added: Sequence[Arrival]) -> None:
    rows = [row for arrival in added for row in _transitions(arrival)]
    rows.sort(key=lambda row: (row["source"], row["target"], row["properties"]["id"]))
    if not rows:
        return
    written = ask("create_transitions", rows=rows)[0]["written"]
    if written != len(rows):
        ids = sorted({technique for row in rows for technique in (row["source"], row["target"])})
        _refuse_missing(ask, ids)


def _transitions(arrival: Arrival) -> list[dict[str, Any]]:
    """Rows for the TRANSITIONs of a new trajectory; step k leads from the k-1st to the k-th."""
    trajectory, source = arrival.trajectory, arrival.trajectory.source
    rows: list[dict[str, Any]] = []
    before = trajectory.serial
    for step, relabelled, measured, (start, end) in zip(
        trajectory.steps,
        arrival.plan.labels,
        arrival.evidence.measurements,
        zip(arrival.evidence.path, arrival.evidence.path[1:], strict=False),
        strict=True,
    ):
        number = len(rows) + 1
        properties = {
            "id": f"{arrival.key}/{number}",
            "trajectory": arrival.key,
            "step": number,
            "problem": trajectory.problem,
            "before": before,
            "after": step.code,
            "reasoning": step.reasoning,
            "detail": step.detail,
            "original_label": step.label,
            "relabel_stage": relabelled.stage,
            "model": source.model,
            "licence": source.licence,
            "prompt_hash": source.prompt_hash,
            "created": source.created,
            **latest(measured),
        }
        rows.append({"source": start, "target": end, "properties": properties})
        before = step.code
    return rows


def _write_additions(ask: Ask, additions: Sequence[Addition]) -> None:
    if not additions:
        return
    nodes = [
        {"id": one.arrival.key, "measurements": one.after.measurements_json()} for one in additions
    ]
    ask("set_measurements", rows=nodes)
    rows = [
        {
            "source": one.after.path[step],
            "target": one.after.path[step + 1],
            "id": f"{one.arrival.key}/{step + 1}",
            "properties": latest(measured),
        }
        for one in additions
        for step, measured in enumerate(one.after.measurements)
        if measured != one.before.measurements[step]
    ]
    rows.sort(key=lambda row: (row["source"], row["target"], row["id"]))
    ask("update_transitions", rows=rows)


def _add_to_next(ask: Ask, added: Sequence[Arrival], additions: Sequence[Addition]) -> None:
    gained = [share(arrival.evidence) for arrival in added]
    gained += [share(one.after) for one in additions]
    rows: list[dict[str, Any]] = [
        {
            "source": pair.source,
            "target": pair.target,
            "device": device,
            "id": f"{pair.source} {pair.target} {device}",
            "best_effect": tally.best_effect,
            **{name: tally.counts[name] for name in COUNTS},
        }
        for (pair, device), tally in total(gained, [share(one.before) for one in additions]).items()
    ]
    if not rows:
        return
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    written = ask("add_to_next", rows=rows, now=now)[0]["written"]
    if written != len(rows):
        _refuse_missing(ask, sorted({row[end] for row in rows for end in ("source", "target")}))


def _refuse_missing(ask: Ask, ids: Sequence[str]) -> None:
    missing = ", ".join(row["id"] for row in ask("missing_techniques", ids=ids))
    raise StoreError(f"merge: neither the graph nor the plan knows {missing}; nothing was written")
