"""Transfers steps and failures from technique to technique, inside one write transaction.

One transaction changes paths and failures of the trajectories, moves their TRANSITIONs, which keep
their vectors, and recounts the derived rows (NEXT, Edge, Failure) of the changed pairs. Memory
holds only each trajectory's path and the places of its failures; the rest is read and written in
chunks. Locks are taken in the order of docs/dev/graph.md section 4.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


class FailedAt(NamedTuple):
    """A failure's place in a trajectory; `key` as in `StepRef`."""

    key: str
    after_step: int
    technique: str | None
    label: str


class Outline(NamedTuple):
    """The techniques of a trajectory."""

    path: tuple[str, ...]
    failures: tuple[FailedAt, ...]

    @property
    def pairs(self) -> list[Pair]:
        """The pairs of its steps, in order."""
        return [Pair(*ends) for ends in zip(self.path, self.path[1:], strict=False)]

    @property
    def failed(self) -> list[Pair | None]:
        """The pairs of its failures, in order; None = of no technique."""
        return [
            None
            if failure.technique is None
            else Pair(self.path[failure.after_step], failure.technique)
            for failure in self.failures
        ]

    def redirected(self, at: Mapping[int | str, str]) -> "Outline":
        """The outline with other techniques at some places."""
        return Outline(
            tuple(at.get(number, technique) for number, technique in enumerate(self.path)),
            tuple(
                failure._replace(technique=at.get(failure.key, failure.technique))
                for failure in self.failures
            ),
        )


@dataclass(slots=True)
class LockedTrajectories:
    """Trajectories by id that no other writer can change before our transaction ends."""

    ask: Query
    before: dict[str, Outline] = field(default_factory=dict)
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
                    self.before[row["id"]] = outline = _outline(row)
                    pairs.update(pair for pair in outline.pairs if {*pair} & {*ids})
            edges.hold(self.ask, pairs)

    def read(self, techniques: Iterable[str]) -> None:
        """Read these trajectories without a lock; the caller must not write them."""
        for chunk in _chunks(_trajectory_ids(self.ask, sorted(set(techniques)))):
            for row in self.ask("curate_read", ids=chunk):
                self.before[row["id"]] = _outline(row)

    def at(self, technique: str) -> frozenset[StepRef]:
        """Every step and failure of a technique, before any write."""
        places = (_places(key, outline, technique) for key, outline in self.before.items())
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
        for key, outline in self.before.items():
            for failure in outline.failures:
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
        for key, at in self.heirs.items():
            before, after = self.before[key], self.before[key].redirected(at)
            for old, new in (
                *zip(before.pairs, after.pairs, strict=True),
                *zip(before.failed, after.failed, strict=True),
            ):
                if old is not None and new is not None and old != new:
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
                        self.before[key].redirected(self.heirs[key]).pairs,
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
        failing = [key for key in keys if any(isinstance(at, str) for at in self.heirs[key])]
        stored = {row["id"]: row["failures"] for row in self.ask("curate_read", ids=failing)}
        rows = []
        for key in keys:
            path = list(self.before[key].redirected(self.heirs[key]).path)
            failures = _redirected_failures(stored[key], self.heirs[key]) if key in stored else None
            rows.append({"id": key, "path": path, "failures": failures})
        self.ask("curate_paths", rows=rows)


def _trajectory_ids(ask: Query, techniques: Sequence[str]) -> list[str]:
    targets = sorted({technique.partition("/")[0] for technique in techniques})
    quoted = [json.dumps(technique) for technique in techniques]
    rows = ask("curate_trajectories", targets=targets, ids=techniques, quoted=quoted)
    return [row["id"] for row in rows]


def _outline(row: GraphRow) -> Outline:
    """The outline of a trajectory's node, with interned ids of techniques."""
    failures = Evidence.read(row | {"measurements": "[]"}).failures
    return Outline(
        tuple(map(sys.intern, row["path"])),
        tuple(
            FailedAt(failure.key, failure.after_step, failure.technique, failure.label)
            for failure in failures
        ),
    )


def _places(key: str, outline: Outline, technique: str) -> Iterator[StepRef]:
    for number, target in enumerate(outline.path):
        if number and target == technique:
            yield StepRef(key, number)
    for failure in outline.failures:
        if failure.technique == technique:
            yield StepRef(key, failure.key)


def _redirected_failures(failures: str, at: Mapping[int | str, str]) -> str:
    """The text of a trajectory's failures, with other techniques at some of them."""
    evidence = Evidence.read(
        {"problem": "", "path": (), "measurements": "[]", "failures": failures}
    )
    redirected = tuple(
        failure.model_copy(update={"technique": at.get(failure.key, failure.technique)})
        for failure in evidence.failures
    )
    return replace(evidence, failures=redirected).failures_json()


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
