"""Transfers steps and failures from technique to technique, inside one write transaction.

Truth is changed in one go: paths and failures of the trajectories, and where each example hangs,
TRANSITION or (:Archived). What follows from it (NEXT, Edge, Failure rows) is recounted for the
touched pairs alone. Locks are taken in the order of a merge: techniques, trajectories, Edges, NEXT.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from regraph_kg.backends import edges
from regraph_kg.backends.bolt import GraphRow, Query
from regraph_kg.backends.evidence import Evidence, failure_key
from regraph_kg.backends.recount import recount
from regraph_kg.backends.statistics import Pair
from regraph_kg.errors import StoreError
from regraph_kg.models.curation import Transfer
from regraph_kg.models.technique import spelling

ROWS = 5_000
"""Rows of one statement."""

T = TypeVar("T")


class StepRef(NamedTuple):
    """A step or a failure of a trajectory."""

    trajectory: str
    at: int | str
    """The number of the step, from 1; or the key of the failure."""


@dataclass(frozen=True, slots=True)
class TransferScope:
    """A transfer, and which places go over, or stay, whatever their label."""

    transfer: Transfer
    also: frozenset[StepRef] = frozenset()
    but: frozenset[StepRef] = frozenset()


@dataclass(slots=True)
class LockedTrajectories:
    """Trajectories that no other writer can change before our transaction ends; by id.

    Of their evidence without measurements: those are not touched.
    """

    ask: Query
    before: dict[str, Evidence] = field(default_factory=dict)
    after: dict[str, Evidence] = field(default_factory=dict)

    def take(self, techniques: Iterable[str]) -> None:
        """Lock every trajectory with a step or failure of `techniques`, and their pairs."""
        ids = sorted(set(techniques))
        while new := [key for key in _through(self.ask, ids) if key not in self.before]:
            for some in _chunks(new):
                for row in self.ask("curate_hold", ids=some):
                    self.before[row["id"]] = Evidence.read(row | {"measurements": "[]"})
            pairs = (pair for one in self.before.values() for pair in _pairs(one))
            _lock(self.ask, (pair for pair in pairs if {*pair} & {*ids}))

    def look(self, techniques: Iterable[str]) -> None:
        """Read those trajectories without a lock: nothing of them may be rewritten."""
        for some in _chunks(_through(self.ask, sorted(set(techniques)))):
            for row in self.ask("curate_read", ids=some):
                self.before[row["id"]] = Evidence.read(row | {"measurements": "[]"})

    def at(self, technique: str) -> frozenset[StepRef]:
        """Every step and failure of a technique, before anything was rewritten."""
        return frozenset(
            place for key, one in self.before.items() for place in _places(key, one, technique)
        )

    def called(self, technique: str, names: frozenset[str]) -> frozenset[StepRef]:
        """Those of its steps and failures whose label has one of these spellings."""
        return frozenset(place for place, name in self.labels(technique) if spelling(name) in names)

    def labels(self, technique: str) -> Iterator[tuple[StepRef, str]]:
        """What its steps and failures were called by their authors."""
        here = sorted(self.at(technique), key=lambda place: (place.trajectory, str(place.at)))
        rows = self.ask("curate_labels", technique=technique)
        known = {(row["trajectory"], row["step"]) for row in rows}
        archived = [place for place in here if isinstance(place.at, int) and place not in known]
        for some in _chunks(archived):
            ids = [f"{place.trajectory}/{place.at}" for place in some]
            rows += self.ask("curate_archived_labels", ids=ids)
        yield from ((StepRef(row["trajectory"], row["step"]), row["label"]) for row in rows)
        for key in dict.fromkeys(place.trajectory for place in here):
            for failure in self.before[key].failures:
                if failure.technique == technique:
                    yield StepRef(key, failure_key(failure)), failure.label

    def chosen(self, work: TransferScope) -> frozenset[StepRef]:
        """The places that a transfer moves."""
        source, names = work.transfer.source, work.transfer.names
        here = self.at(source)
        if names is None:
            return here
        return ((self.called(source, names) - work.but) | work.also) & here

    def lead(self, places: Iterable[StepRef], heir: str) -> None:
        """Make these places lead to `heir`; `write` brings it into the graph."""
        by_trajectory: dict[str, set[int | str]] = {}
        for place in places:
            by_trajectory.setdefault(place.trajectory, set()).add(place.at)
        for key, at in by_trajectory.items():
            self.after[key] = _led(self.after.get(key, self.before[key]), at, heir)

    def write(self) -> None:
        """Write what was led elsewhere, and recount the pairs that this touches."""
        pairs: set[Pair] = set()
        rows: list[GraphRow] = []
        for key, after in sorted(self.after.items()):
            before = self.before[key]
            for number, (old, new) in enumerate(zip(_pairs(before), _pairs(after), strict=True), 1):
                if old != new:
                    rows.append(_row(key, number, old, new))
                    pairs |= {old, new}
            pairs |= _failures_moved(before, after)
        _lock(self.ask, pairs)
        _move(self.ask, rows)
        for some in _chunks(sorted(self.after)):
            self.ask("curate_paths", rows=[_node(key, self.after[key]) for key in some])
        recount(self.ask, pairs)


def _through(ask: Query, techniques: Sequence[str]) -> list[str]:
    targets = sorted({one.partition("/")[0] for one in techniques})
    quoted = [json.dumps(one) for one in techniques]
    rows = ask("curate_trajectories", targets=targets, ids=techniques, quoted=quoted)
    return [row["id"] for row in rows]


def _lock(ask: Query, pairs: Iterable[Pair]) -> None:
    """Nothing moves within these pairs until the transaction ends."""
    ids = sorted({edges.pair_id(pair) for pair in pairs})
    rows = [{"id": key, "kept": 0, "codes": 0, "most_codes": edges.FAILED_CODES} for key in ids]
    if rows:
        ask("add_to_edges", rows=rows)


def _pairs(evidence: Evidence) -> list[Pair]:
    return [Pair(*ends) for ends in zip(evidence.path, evidence.path[1:], strict=False)]


def _failed(evidence: Evidence) -> list[Pair | None]:
    """The pairs of its failures, in order; None = of no technique."""
    return [
        None if one.technique is None else Pair(evidence.path[one.after_step], one.technique)
        for one in evidence.failures
    ]


def _failures_moved(before: Evidence, after: Evidence) -> set[Pair]:
    both = zip(_failed(before), _failed(after), strict=True)
    return {pair for old, new in both if old != new for pair in (old, new) if pair is not None}


def _places(key: str, evidence: Evidence, technique: str) -> Iterator[StepRef]:
    for number, one in enumerate(evidence.path):
        if number and one == technique:
            yield StepRef(key, number)
    for failure in evidence.failures:
        if failure.technique == technique:
            yield StepRef(key, failure_key(failure))


def _led(evidence: Evidence, at: set[int | str], heir: str) -> Evidence:
    path = tuple(heir if number in at else one for number, one in enumerate(evidence.path))
    failures = tuple(
        one.model_copy(update={"technique": heir}) if failure_key(one) in at else one
        for one in evidence.failures
    )
    return replace(evidence, path=path, failures=failures)


def _node(key: str, evidence: Evidence) -> GraphRow:
    return {"id": key, "path": list(evidence.path), "failures": evidence.failures_json()}


def _row(key: str, number: int, old: Pair, new: Pair) -> GraphRow:
    return {
        "id": f"{key}/{number}",
        "source": old.source,
        "target": old.target,
        "to_source": new.source,
        "to_target": new.target,
        "pair": edges.pair_id(new),
    }


def _move(ask: Query, rows: Sequence[GraphRow]) -> None:
    """Hang examples between other techniques; one that is nowhere undoes the transaction."""
    pairs = sorted({Pair(row["source"], row["target"]) for row in rows})
    homes = [{"source": pair.source, "target": pair.target} for pair in pairs]
    kept = {row["id"] for row in ask("curate_kept", pairs=homes)} if homes else set()
    moved = 0
    for statement, wanted in (("curate_transitions", True), ("curate_archived", False)):
        some_rows = [row for row in rows if (row["id"] in kept) == wanted]
        some_rows.sort(key=lambda row: (row["source"], row["target"], row["id"]))
        for some in _chunks(some_rows):
            moved += ask(statement, rows=some)[0]["moved"]
    if moved != len(rows):
        raise StoreError(
            f"{len(rows) - moved} of {len(rows)} examples are not where their trajectories say;"
            " nothing was written; run regraph graph check --repair, then try again"
        )


def _chunks(rows: Sequence[T]) -> list[Sequence[T]]:
    return [rows[first : first + ROWS] for first in range(0, len(rows), ROWS)]
