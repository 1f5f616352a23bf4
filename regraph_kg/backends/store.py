"""BoltStore: the GraphStore of Neo4j and of the embedded store."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Literal

from regraph_kg.backends import evidence, merge
from regraph_kg.backends.bolt import Ask, Bolt, Row
from regraph_kg.backends.evidence import Evidence
from regraph_kg.backends.statistics import COUNTS, FAILURES, Tally, best, share, total
from regraph_kg.errors import StoreError
from regraph_kg.graph import SCHEMA_VERSION
from regraph_kg.models.base import Target
from regraph_kg.models.graph import (
    Example,
    GraphStats,
    MergeCounts,
    MergePlan,
    Neighbourhood,
    Successor,
    TransitionStats,
)
from regraph_kg.models.technique import Technique, start_id
from regraph_kg.models.trajectory import Trajectory

PRODUCT = "regraph-kg"
BEST_EXAMPLES = 3
EXPORT_PAGE = 500
"""Trajectories read at a time."""
MOST_ROWS = 1_000_000
"""Largest LIMIT sent: the embedded store allocates for it at once."""

TARGETS: tuple[Target, ...] = ("cuda", "openmp")
STARTS = tuple(
    Technique(id=start_id(target), name="serial code", target=target) for target in TARGETS
)


class BoltStore:
    """A technique graph behind a Bolt connection; `graph.GraphStore` is the contract."""

    def __init__(self, bolt: Bolt) -> None:
        """Use `bolt`, and close it with `close`."""
        self._bolt = bolt

    def apply_schema(self) -> None:
        """See `GraphStore`. The stamp comes last: where it is, the rest is."""
        if self._stamped():
            return
        self._bolt.run_each("schema")
        starts = [
            {"id": start.id, "properties": start.model_dump(exclude={"id"})} for start in STARTS
        ]
        self._bolt.write(
            lambda ask: ask("stamp", product=PRODUCT, schema_version=SCHEMA_VERSION, starts=starts)
        )

    def add_techniques(self, techniques: Sequence[Technique]) -> int:
        """See `GraphStore`."""
        return self._bolt.write(lambda ask: merge.add_techniques(ask, techniques))

    def merge(self, plans: Sequence[MergePlan]) -> MergeCounts:
        """See `GraphStore`."""
        batch = merge.arrivals(plans)
        return self._bolt.write(lambda ask: merge.merge(ask, batch)) if batch else MergeCounts()

    def techniques(self, target: Target | None = None) -> tuple[Technique, ...]:
        """See `GraphStore`."""
        rows = self._bolt.read(lambda ask: ask("techniques", target=target))
        return tuple(Technique.model_validate(row["technique"]) for row in rows)

    def neighbourhood(
        self, technique: str, *, device: str, limit: int = 32, exclude_problem: str | None = None
    ) -> Neighbourhood:
        """See `GraphStore`."""
        return self._bolt.read(
            lambda ask: _neighbourhood(ask, technique, device, limit, exclude_problem)
        )

    def examples(
        self,
        source: str,
        target: str,
        *,
        device: str | None = None,
        limit: int = 3,
        exclude_problem: str | None = None,
    ) -> tuple[Example, ...]:
        """See `GraphStore`."""
        rows = self._bolt.read(
            lambda ask: ask(
                "examples",
                source=source,
                target=target,
                device=device or "",
                limit=min(limit, MOST_ROWS),
                exclude_problem=exclude_problem,
            )
        )
        fields = [field.name for field in dataclasses.fields(Example)]
        return tuple(
            Example(
                **{name: row["example"].get(name) for name in fields}
                | {"source": source, "target": target}
            )
            for row in rows
        )

    def transitions(self) -> tuple[TransitionStats, ...]:
        """See `GraphStore`."""
        return tuple(
            _transition_stats(row) for row in self._bolt.read(lambda ask: ask("transitions"))
        )

    def stats(self) -> GraphStats:
        """See `GraphStore`."""
        totals, targets = self._bolt.read(lambda ask: (ask("stats"), ask("count_trajectories")))
        by_target: dict[Target, int] = {row["target"]: row["trajectories"] for row in targets}
        return GraphStats(
            product=PRODUCT,
            schema_version=SCHEMA_VERSION,
            trajectories=sum(by_target.values()),
            targets=by_target,
            **totals[0],
        )

    def export(self) -> Iterator[Trajectory]:
        """See `GraphStore`. Reads page by page: what is merged meanwhile may or may not be in."""
        last = ""
        while page := self._bolt.read(partial(_export_page, after=last)):
            yield from (trajectory for _, trajectory in page)
            last = page[-1][0]

    def close(self) -> None:
        """See `GraphStore`."""
        self._bolt.close()

    def _stamped(self) -> bool:
        """Whether this database is ours; False = empty. Raises `StoreError` for any other."""
        (stamp,) = self._bolt.read(lambda ask: ask("read_stamp"))
        if stamp["empty"]:
            return False
        if stamp["products"] != [PRODUCT]:
            raise StoreError(
                f"{self._bolt.place}: holds another product's data;"
                " name an empty database (REGRAPH_STORE_DATABASE) or server"
            )
        if stamp["schema_version"] != SCHEMA_VERSION:
            raise StoreError(
                f"{self._bolt.place}: graph has schema {stamp['schema_version']}, this program"
                f" knows {SCHEMA_VERSION}; upgrade regraph-kg"
            )
        return True


def _neighbourhood(
    ask: Ask, technique: str, device: str, limit: int, exclude_problem: str | None
) -> Neighbourhood:
    rows = ask(
        "neighbourhood",
        technique=technique,
        device=device,
        exclude_problem=exclude_problem,
        limit=min(limit, MOST_ROWS) if exclude_problem is None else MOST_ROWS,
        best=BEST_EXAMPLES,
    )
    by_target = {row["technique"]["id"]: _tallies(row["statistics"]) for row in rows}
    if exclude_problem is not None:
        _subtract(ask, technique, by_target, exclude_problem)
    successors = [
        _successor(row, by_target[row["technique"]["id"]], device)
        for row in rows
        if sum(tally.counts["examples"] for tally in by_target[row["technique"]["id"]].values())
    ]
    successors.sort(key=lambda successor: (-successor.examples, successor.technique.id))
    return Neighbourhood(technique, tuple(successors[:limit]))


def _subtract(
    ask: Ask, source: str, by_target: Mapping[str, dict[str, Tally]], problem: str
) -> None:
    """Take one problem's share out of the tallies around `source`, best effects included."""
    nodes = ask("problem_evidence", problem=problem, technique=source)
    stale: set[str] = set()
    for (pair, device), taken in total(share(Evidence.read(node)) for node in nodes).items():
        if pair.source != source or pair.target not in by_target:
            continue
        tally = by_target[pair.target][device]
        tally.add(taken, sign=-1)
        if taken.best_effect is not None and taken.best_effect == tally.best_effect:
            tally.best_effect = None
            stale.add(pair.target)
    if not stale:
        return
    rows = ask("measurements", source=source, targets=sorted(stale), exclude_problem=problem)
    for row in rows:
        tallies = by_target[row["target"]]
        for one in evidence.read_measured(row["measurements"]):
            tallies[one.device].best_effect = best(tallies[one.device].best_effect, one.effect)


def _successor(row: Row, tallies: Mapping[str, Tally], device: str) -> Successor:
    chosen = tallies.get(device, Tally())
    origin: Literal["device", "other-devices", "none"] = "device"
    if not chosen.counts["tried"]:
        chosen, origin = Tally(), "other-devices"
        for tally in tallies.values():
            chosen.add(tally)
    if not chosen.counts["tried"]:
        origin = "none"
    return Successor(
        technique=Technique.model_validate(row["technique"]),
        examples=sum(tally.counts["examples"] for tally in tallies.values()),
        tried=chosen.counts["tried"],
        verified=chosen.counts["verified"],
        sum_log2_effect=chosen.counts["sum_log2_effect"],
        best_effect=chosen.best_effect,
        statistics=origin,
        example_ids=tuple(row["example_ids"]),
    )


def _tallies(rows: Sequence[Mapping[str, Any]]) -> dict[str, Tally]:
    """NEXT rows of one pair, by device."""
    tallies = {}
    for row in rows:
        tally = Tally(best_effect=row.get("best_effect"))
        tally.counts.update({name: row.get(name, 0) for name in COUNTS})
        tallies[row["device"]] = tally
    return tallies


def _transition_stats(row: Row) -> TransitionStats:
    numbers = row["statistics"]
    return TransitionStats(
        source=row["source"],
        target=row["target"],
        device=numbers["device"],
        examples=numbers["examples"],
        tried=numbers["tried"],
        verified=numbers["verified"],
        verified_first=numbers["verified_first"],
        failed={name.removeprefix("failed_"): numbers[name] for name in FAILURES if numbers[name]},
        sum_log2_effect=numbers["sum_log2_effect"],
        sum_sq_log2_effect=numbers["sum_sq_log2_effect"],
        best_effect=numbers.get("best_effect"),
    )


def _export_page(ask: Ask, after: str) -> list[tuple[str, Trajectory]]:
    nodes = [
        row["trajectory"] for row in ask("page_of_trajectories", after=after, limit=EXPORT_PAGE)
    ]
    if not nodes:
        return []
    rows = ask("steps_of_trajectories", first=nodes[0]["id"], last=nodes[-1]["id"])
    steps = {key: list(group) for key, group in groupby(rows, lambda row: str(row["trajectory"]))}
    return [(node["id"], evidence.trajectory(node, steps[node["id"]])) for node in nodes]
