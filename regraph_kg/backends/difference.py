"""Compares two graphs, each a store, a backup or an export: what one has and the other has not.

A graph is read once and held as digests, some hundred bytes a trajectory. Its statistics follow
from its trajectories; `regraph graph check` compares them with a store's rows. An export only
names techniques: beside one, only techniques that steps lead to are compared, by id. Not compared:
the archive's choice, embeddings, the log of decisions, times.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from regraph_kg.backends.backup import lines_of, opened, read_backup, resolved_plan
from regraph_kg.backends.evidence import Evidence
from regraph_kg.backends.statistics import RowCounts, Share, share
from regraph_kg.errors import BadInput
from regraph_kg.graph import GraphStore
from regraph_kg.models.difference import GraphPart, PartDifference
from regraph_kg.models.technique import Technique, start_id
from regraph_kg.models.trajectory import Trajectory


@dataclass(slots=True)
class GraphDigest:
    """The compared parts of one graph."""

    trajectories: dict[str, str] = field(default_factory=dict)
    techniques: dict[str, str] = field(default_factory=dict)
    statistics: Share = field(default_factory=dict)
    described: bool = True
    """Whether it describes its techniques."""


def of_store(store: GraphStore) -> GraphDigest:
    """The digest of a store's graph."""
    return _digest(list(store.techniques()), store.export())


def of_file(path: Path) -> GraphDigest:
    """The digest of a backup or an export. `BadInput` for another file."""
    with opened(path, 'give an export, a backup, "embedded" or a URI') as file:
        backup = b'"regraph-kg backup"' in file.readline(1000)
    if not backup:
        return _digest(None, _exported(path))
    techniques: list[Technique] = []
    return _digest(techniques, read_backup(path, techniques))


def compare(a: GraphDigest, b: GraphDigest) -> tuple[PartDifference, ...]:
    """The differences, part by part."""
    if not (a.described and b.described):
        for digest in (a, b):
            digest.techniques = dict.fromkeys(_led_to(digest.statistics), "")
    return (
        _part("trajectories", a.trajectories, b.trajectories),
        _part("techniques", a.techniques, b.techniques),
        _part("statistics", _rows(a.statistics), _rows(b.statistics)),
    )


def _exported(path: Path) -> Iterator[Trajectory]:
    with opened(path) as file:
        for number, line in enumerate(lines_of(file, path), 1):
            try:
                yield Trajectory.model_validate_json(line, strict=True)
            except ValidationError as error:
                raise BadInput(
                    f"{path}:{number}: {error.errors()[0]['msg']}; give what regraph graph export"
                    " wrote"
                ) from None


def _digest(techniques: list[Technique] | None, trajectories: Iterable[Trajectory]) -> GraphDigest:
    """`techniques` may come while the trajectories are read."""
    digest = GraphDigest(described=techniques is not None)
    for trajectory in trajectories:
        evidence, key = Evidence.of(resolved_plan(trajectory)), trajectory.id
        digest.trajectories[key] = _content(trajectory)
        for row, tally in share(evidence).items():
            digest.statistics.setdefault(row, RowCounts()).add(tally)
    for technique in techniques or ():
        if technique.id == start_id(technique.target):  # which stores tell nothing of
            continue
        plain = technique.model_dump(exclude={"created"}) | {"aliases": sorted(technique.aliases)}
        digest.techniques[technique.id] = repr(sorted(plain.items()))
    return digest


def _content(trajectory: Trajectory) -> str:
    """A digest of a trajectory that does not depend on the order of arrival.

    The code of failures is left out: that order decides which failures keep it.
    """
    plain = trajectory.model_dump(mode="json")
    for step in plain["steps"]:
        step["measurements"].sort(key=repr)
    for failure in plain["failures"]:
        del failure["code"]
    plain["failures"].sort(key=repr)
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _led_to(statistics: Share) -> set[str]:
    """Techniques that a step or a failure led to."""
    return {pair.target for pair, _ in statistics}


def _rows(statistics: Share) -> dict[str, str]:
    return {
        f"{pair.source} -> {pair.target} on {origin}": repr(
            (sorted((name, n) for name, n in row.counts.items() if n), row.best_effect)
        )
        for (pair, origin), row in statistics.items()
    }


def _part(part: GraphPart, a: dict[str, str], b: dict[str, str]) -> PartDifference:
    both = a.keys() & b.keys()
    changed = tuple(sorted(name for name in both if a[name] != b[name]))
    return PartDifference(
        part,
        len(both) - len(changed),
        tuple(sorted(a.keys() - b.keys())),
        tuple(sorted(b.keys() - a.keys())),
        changed,
    )
