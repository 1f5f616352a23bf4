"""Merges plans in one write transaction: claim the trajectories, then write what is new.

Only the transaction that created a trajectory's node writes its steps; a later sender adds only
measurements and failures, and a known trajectory keeps its disclosure: failures of another one
cannot be compared and are left out. A partly disclosed trajectory names its own content; a
contradicting one is refused. Locks are taken in the order of docs/dev/graph.md section 4: the rows
that every writer wants (Edges, techniques, Shares, NEXT) come last.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from regraph_kg.backends import edges, shares, techniques
from regraph_kg.backends.bolt import GraphRow, Overtaken, Query
from regraph_kg.backends.bounded import DEFAULT_BOUND
from regraph_kg.backends.edges import MissingTechniques, Placed
from regraph_kg.backends.evidence import (
    Evidence,
    Pair,
    example,
    node,
    steps_node,
    stored_disclosure,
)
from regraph_kg.backends.shares import ShareKey, Shares
from regraph_kg.backends.statistics import Share
from regraph_kg.errors import StoreError
from regraph_kg.models.graph import MergeCounts, MergePlan, Relabelled
from regraph_kg.models.trajectory import FailedStep, Trajectory

_FAILURE = set(FailedStep.model_fields) - {"technique", "code"}


@dataclass(frozen=True, slots=True)
class MergeContext:
    """The graph's facts that every merge needs."""

    bound: int
    replaced: Mapping[str, str]
    """Ids of merged-away techniques -> the technique that took their place."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """One trajectory of a batch."""

    key: str
    """`Trajectory.id`."""
    plan: MergePlan
    evidence: Evidence

    @property
    def trajectory(self) -> Trajectory:
        """The planned trajectory."""
        return self.plan.trajectory


@dataclass(frozen=True, slots=True)
class Addition:
    """New measurements and failures of a known trajectory."""

    arrival: Arrival
    before: Evidence
    after: Evidence


def merge(ask: Query, plans: Sequence[MergePlan]) -> MergeCounts:
    """Merge a batch inside the transaction of `ask`; a purge meanwhile restarts it."""
    context, counts, refusal = read_context(ask), MergeCounts(), None
    try:
        for batch in _rounds([_redirected(plan, context.replaced) for plan in plans]):
            counts += _merged(ask, batch, context.bound)
    except StoreError as error:
        refusal = error
    if isinstance(refusal, MissingTechniques):
        ours = {technique.id for plan in plans for technique in plan.new}
        if not ours.isdisjoint(refusal.ids):  # a purge deleted it after `create` saw it
            raise Overtaken
    if refusal is not None:
        raise refusal
    return counts


def _merged(ask: Query, batch: Sequence[Arrival], bound: int) -> MergeCounts:
    conflicts = _ref_clashes(ask, batch)
    accepted = {arrival.key: arrival for arrival in batch if arrival.key not in conflicts}
    new = [technique for arrival in accepted.values() for technique in arrival.plan.new]
    created = techniques.create(ask, new)
    nodes = {key: node(one.trajectory, key, one.evidence) for key, one in accepted.items()}
    rows = [{"id": key, "properties": properties} for key, properties in nodes.items()]
    claimed = ask("claim_trajectories", rows=rows)
    if any(row["id"] is None for row in claimed):  # purged while we waited for its lock
        raise Overtaken
    added = [accepted[row["id"]] for row in claimed if row["new"]]
    additions, known = _recognize(accepted, [row for row in claimed if not row["new"]])
    measured, failures = _measured(additions), _failures(added, additions)
    pairs = [placed.pair for placed in measured]
    pairs += [Pair.of(row) for row in failures if row["code"]]
    edges.add(ask, _write_steps(ask, added, nodes), bound, pairs)
    _write_additions(ask, additions, measured, bound)
    if failures:
        ask("write_failures", rows=_with_room(ask, failures))
    growth, lowered = _growth(added, additions)
    sums = shares.next_rows(growth)
    techniques.extend(ask, new, _newly_joined(ask, sums))
    shares.grow(ask, growth, sums, lowered)
    return known + MergeCounts(
        added=len(added),
        examples=sum(len(arrival.trajectory.steps) for arrival in added),
        techniques=created,
        measurements=sum(arrival.evidence.measured() for arrival in added)
        + sum(addition.after.measured() - addition.before.measured() for addition in additions),
        failures=len(failures),
        conflicts=conflicts,
    )


def read_context(ask: Query) -> MergeContext:
    """The bound, and the merged-away techniques."""
    (row,) = ask("merge_context")
    return MergeContext(
        row["bound"] or DEFAULT_BOUND,
        {old: technique["id"] for technique in row["replaced"] for old in technique["replaces"]},
    )


def _redirected(plan: MergePlan, replaced: Mapping[str, str]) -> MergePlan:
    """The plan with merged-away techniques replaced by their successors."""
    if not replaced:
        return plan

    def current(label: Relabelled) -> Relabelled:
        key = replaced.get(label.technique, label.technique)
        return replace(label, technique=key, also=current_also(label.also, key, replaced))

    failures = tuple(
        failure.model_copy(update={"technique": replaced.get(failure.technique, failure.technique)})
        if failure.technique is not None
        else failure
        for failure in plan.trajectory.failures
    )
    return replace(
        plan,
        trajectory=plan.trajectory.model_copy(update={"failures": failures}),
        labels=tuple(map(current, plan.labels)),
        failed_labels=tuple(map(current, plan.failed_labels)),
        new=tuple(t.model_copy(update={"id": replaced.get(t.id, t.id)}) for t in plan.new),
    )


def current_also(also: Iterable[str], main: str, replaced: Mapping[str, str]) -> tuple[str, ...]:
    """A step's further techniques by their current ids, without its `main` one."""
    current = dict.fromkeys(replaced.get(key, key) for key in also)
    return tuple(key for key in current if key != main)


def _rounds(plans: Sequence[MergePlan]) -> Iterator[list[Arrival]]:
    """The trajectories of a batch, sorted by id, no id and no ref twice in a round.

    So a copy, or other content under the same ref, finds the first one in the graph.
    """
    rest = list(plans)
    while rest:
        batch: dict[str, Arrival] = {}
        refs: set[str] = set()
        later: list[MergePlan] = []
        for plan in rest:
            key, ref = plan.trajectory.id, plan.trajectory.ref
            if key in batch or ref in refs:
                later.append(plan)
                continue
            batch[key] = Arrival(key, plan, Evidence.of(plan))
            refs |= {ref} if ref is not None else set()
        yield [batch[key] for key in sorted(batch)]
        rest = later


def _recognize(
    batch: Mapping[str, Arrival], rows: Sequence[Mapping[str, Any]]
) -> tuple[list[Addition], MergeCounts]:
    """The batch's additions to the known trajectories `rows`, and the counts of these."""
    additions: list[Addition] = []
    refused: dict[str, str] = {}
    otherwise = 0
    for row in rows:
        arrival, before = batch[row["id"]], Evidence.read(row)
        if not before.may_be_same(arrival.evidence):
            refused[arrival.key] = (
                f"its content names trajectory {arrival.key[:12]}, which has another problem,"
                " target or number of steps"
            )
            continue
        same = stored_disclosure(arrival.trajectory.disclosed) == row["disclosed"]
        after = before.plus(
            arrival.evidence.measurements, arrival.evidence.failures if same else ()
        )
        if after != before:
            additions.append(Addition(arrival, before, after))
        otherwise += not same
    known = len(rows) - len(refused)
    return additions, MergeCounts(known=known, disclosed_otherwise=otherwise, conflicts=refused)


def _ref_clashes(ask: Query, batch: Sequence[Arrival]) -> dict[str, str]:
    """Ids to refuse, with the reason: their ref names other content."""
    refs = {arrival.key: arrival.trajectory.ref for arrival in batch if arrival.trajectory.ref}
    rows = [{"id": key, "ref": ref} for key, ref in refs.items()]
    return {
        row["id"]: f"ref {refs[row['id']]!r} already names other content"
        f" (trajectory {row['other'][:12]})"
        for row in (ask("ref_clashes", rows=rows) if rows else ())
    }


def _write_steps(
    ask: Query, added: Sequence[Arrival], nodes: Mapping[str, GraphRow]
) -> list[Placed]:
    """Write the texts of new trajectories' steps; step k leads from the k-1st technique on."""
    texts = [steps_node(arrival.plan, arrival.key) for arrival in added]
    if texts:
        ask("create_steps", rows=texts)
    return [
        Placed(pair, example(nodes[arrival.key], steps, number, arrival.evidence))
        for arrival, steps in zip(added, texts, strict=True)
        for number, pair in enumerate(arrival.evidence.pairs, 1)
    ]


def _measured(additions: Sequence[Addition]) -> list[Placed]:
    """Known examples with new measurements."""
    return [
        edges.remeasured(addition.arrival.key, addition.after, step)
        for addition in additions
        for step, measurements in enumerate(addition.after.measurements)
        if measurements != addition.before.measurements[step]
    ]


def _write_additions(
    ask: Query, additions: Sequence[Addition], measured: Sequence[Placed], bound: int
) -> None:
    rows = [{"id": addition.arrival.key} | addition.after.stored() for addition in additions]
    if rows:
        ask("set_evidence", rows=rows)
    if measured:
        edges.update(ask, measured, bound)


def _failures(added: Sequence[Arrival], additions: Sequence[Addition]) -> list[dict[str, Any]]:
    """The (:Failure) nodes of new failures."""
    new = [(arrival, arrival.evidence) for arrival in added]
    for addition in additions:
        failures = addition.after.failures[len(addition.before.failures) :]
        new.append((addition.arrival, replace(addition.after, failures=failures)))
    return [
        failure_node(arrival.key, arrival.trajectory.problem, failure, pair)
        | {"created": arrival.plan.created}
        for arrival, evidence in new
        for failure, pair in evidence.failed
    ]


def failure_node(trajectory: str, problem: str, failure: FailedStep, pair: Pair) -> dict[str, Any]:
    """Properties of a (:Failure) node; an empty code is left out."""
    return {
        "id": f"{trajectory}/{failure.key}",
        "pair": pair.id,
        **pair._asdict(),
        "trajectory": trajectory,
        "problem": problem,
        "code": failure.code or None,
        **failure.model_dump(mode="json", include=_FAILURE),
    }


def _with_room(ask: Query, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows without the code of failures whose pair keeps enough codes already."""
    pairs = Counter(Pair.of(row) for row in rows if row["code"])
    room = Counter(edges.count_failed_codes(ask, pairs)) if pairs else Counter()
    fitted = []
    for row in rows:
        pair = Pair.of(row)
        fits = row["code"] is not None and room[pair] > 0
        room[pair] -= fits
        fitted.append(row if fits else row | {"code": None})
    return fitted


def _growth(
    added: Sequence[Arrival], additions: Sequence[Addition]
) -> tuple[Shares, set[ShareKey]]:
    """A batch's additions to the Shares, and those whose best effect a newer judge has lowered."""
    growth: Shares = {}
    for evidence in (*(one.evidence for one in added), *(one.after for one in additions)):
        shares.gather(growth, evidence)
    for addition in additions:
        shares.gather(growth, addition.before, -1)
    lowered = (shares.lowered(addition.before, addition.after) for addition in additions)
    return growth, set().union(*lowered)


def _newly_joined(ask: Query, sums: Share) -> set[str]:
    """The ends of missing NEXT rows: making one locks both of them."""
    rows = [shares.place(*key) for key in sums]
    existing = {row["id"] for row in ask("known_next", rows=rows)} if rows else set()
    return {end for row in rows if row["id"] not in existing for end in Pair.of(row)}
