"""Transfers steps and failures from technique to technique, inside one write transaction.

One transaction changes paths and failures of the trajectories, moves their TRANSITIONs, which keep
their vectors, and recounts the derived rows (NEXT, Edge, Failure) of the changed pairs. Memory
holds only each trajectory's path and failures; the rest is read and written in chunks. Locks are
taken in the order of docs/dev/graph.md section 4.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple, TypeVar

from regraph_kg.backends import edges
from regraph_kg.backends.bolt import GraphRow, Overtaken, Query
from regraph_kg.backends.evidence import Evidence, Pair
from regraph_kg.backends.recount import recount
from regraph_kg.models.curation import Transfer
from regraph_kg.models.technique import spelling

ROWS = 1_000
"""Trajectories of one statement."""

T = TypeVar("T")


class StepRef(NamedTuple):
    """A step or a failure of a trajectory."""

    trajectory: str
    at: int | str
    """The number of the step, from 1; or the key of the failure."""


@dataclass(slots=True)
class LockedTrajectories:
    """Trajectories by id that no other writer can change before our transaction ends."""

    ask: Query
    before: dict[str, Evidence] = field(default_factory=dict)
    heirs: dict[str, dict[int | str, str]] = field(default_factory=dict)
    """New techniques, by trajectory and place."""

    def lock(self, techniques: Iterable[str]) -> None:
        """Lock every trajectory with a step or failure of `techniques`, and their pairs."""
        ids = sorted(set(techniques))
        while new := [key for key in _trajectory_ids(self.ask, ids) if key not in self.before]:
            pairs: set[Pair] = set()
            for chunk in _chunks(new):
                for row in self.ask("curate_hold", ids=chunk):
                    if row["id"] is None:  # purged while we waited for its lock
                        raise Overtaken
                    self.before[row["id"]] = evidence = _without_measurements(row)
                    pairs.update(pair for pair in evidence.pairs if {*pair} & {*ids})
            edges.hold(self.ask, pairs)

    def read(self, techniques: Iterable[str]) -> None:
        """Read these trajectories without a lock; the caller must not write them."""
        for chunk in _chunks(_trajectory_ids(self.ask, sorted(set(techniques)))):
            for row in self.ask("curate_read", ids=chunk):
                self.before[row["id"]] = _without_measurements(row)

    def at(self, technique: str) -> frozenset[StepRef]:
        """Every step and failure of a technique, before any write."""
        places = (_places(key, evidence, technique) for key, evidence in self.before.items())
        return frozenset(chain.from_iterable(places))

    def labelled(self, technique: str, names: frozenset[str]) -> frozenset[StepRef]:
        """A technique's steps and failures whose label has one of these spellings."""
        return frozenset(place for place, name in self.labels(technique) if spelling(name) in names)

    def labels(self, technique: str) -> Iterator[tuple[StepRef, str]]:
        """The authors' labels of a technique's steps and failures."""
        steps: defaultdict[str, list[int]] = defaultdict(list)
        for place in self.at(technique):
            if isinstance(place.at, int):
                steps[place.trajectory].append(place.at)
        for chunk in _chunks(sorted(steps)):
            for row in self.ask("labels_of_steps", ids=chunk):
                for number in steps[row["id"]]:
                    yield StepRef(row["id"], number), row["labels"][number - 1]
        for key, evidence in self.before.items():
            for failure in evidence.failures:
                if failure.technique == technique:
                    yield StepRef(key, failure.key), failure.label

    def chosen(
        self, transfer: Transfer, also: frozenset[StepRef], but: frozenset[StepRef]
    ) -> frozenset[StepRef]:
        """The places that a transfer moves; `also` move and `but` stay whatever their label."""
        here = self.at(transfer.source)
        if transfer.names is None:
            return here
        return ((self.labelled(transfer.source, transfer.names) - but) | also) & here

    def redirect(self, places: Iterable[StepRef], heir: str) -> None:
        """Make these places lead to `heir`; `write` brings it into the graph."""
        for place in places:
            self.heirs.setdefault(place.trajectory, {})[place.at] = heir

    def changed_pairs(self) -> set[Pair]:
        """The pairs that lose or gain a step or failure by `write`."""
        pairs: set[Pair] = set()
        for key in self.heirs:
            before, after = self.before[key], self._after(key)
            for old, new in (
                *zip(before.pairs, after.pairs, strict=True),
                *zip((p for _, p in before.failed), (p for _, p in after.failed), strict=True),
            ):
                if old != new:
                    pairs |= {old, new}
        return pairs

    def write(self) -> None:
        """Write the redirected places, and recount the locked `changed_pairs`."""
        pairs = self.changed_pairs()
        transitions = set().union(*edges.kept_ids(self.ask, pairs).values())
        for chunk in _chunks(sorted(self.heirs)):
            rows = [
                _row(key, number, old, new)
                for key in chunk
                for number, (old, new) in enumerate(
                    zip(
                        self.before[key].pairs,
                        self._after(key).pairs,
                        strict=True,
                    ),
                    1,
                )
                if old != new and f"{key}/{number}" in transitions
            ]
            rows.sort(key=lambda row: (row["source"], row["target"], row["id"]))
            self.ask("curate_transitions", rows=rows)
            self._write_paths(chunk)
        recount(self.ask, pairs)

    def _write_paths(self, keys: Sequence[str]) -> None:
        rows = []
        for key in keys:
            after, failing = self._after(key), any(isinstance(at, str) for at in self.heirs[key])
            failures = after.failures_json() if failing else None
            rows.append({"id": key, "path": list(after.path), "failures": failures})
        self.ask("curate_paths", rows=rows)

    def _after(self, key: str) -> Evidence:
        """The trajectory with its redirected places."""
        return self.before[key].redirected(self.heirs[key])


def _trajectory_ids(ask: Query, techniques: Sequence[str]) -> list[str]:
    targets = sorted({technique.partition("/")[0] for technique in techniques})
    quoted = [json.dumps(technique) for technique in techniques]
    rows = ask("curate_trajectories", targets=targets, ids=techniques, quoted=quoted)
    return [row["id"] for row in rows]


def _without_measurements(row: GraphRow) -> Evidence:
    """A trajectory's path and failures, with interned ids of techniques."""
    evidence = Evidence.read(row | {"measurements": "[]"})
    return replace(evidence, path=tuple(map(sys.intern, evidence.path)))


def _places(key: str, evidence: Evidence, technique: str) -> Iterator[StepRef]:
    for number, target in enumerate(evidence.path):
        if number and target == technique:
            yield StepRef(key, number)
    for failure in evidence.failures:
        if failure.technique == technique:
            yield StepRef(key, failure.key)


def _row(key: str, number: int, old: Pair, new: Pair) -> GraphRow:
    return {
        "id": f"{key}/{number}",
        "source": old.source,
        "target": old.target,
        "to_source": new.source,
        "to_target": new.target,
    }


def _chunks(rows: Sequence[T]) -> list[Sequence[T]]:
    return [rows[first : first + ROWS] for first in range(0, len(rows), ROWS)]
