"""Counts a graph again from its trajectories, and compares that with what the graph has."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import cast

from regraph_kg.backends.evidence import Evidence, Pair
from regraph_kg.backends.statistics import (
    COUNTS,
    Counts,
    NextRows,
    RowKey,
    add,
    contribution,
    together,
)
from regraph_kg.backends.store import GraphStore
from regraph_kg.models.graph import MergePlan, Relabelled

EXAMPLES = "MATCH (s:Technique)-[r:TRANSITION]->(d:Technique) RETURN r.id, s.id, d.id"
KINDED = re.compile(r"(?:tried|verified|sum_log2_effect)_\w+").fullmatch
ROWS = "MATCH (s:Technique)-[n:NEXT]->(d:Technique) RETURN s.id, d.id, properties(n)"


def wrong_counts(store: GraphStore) -> list[str]:
    """NEXT rows and examples that are not what the trajectories say; empty: all is right."""
    # The same connection, so that a cluster or a bookmark shows what this store has written.
    bolt = cast(GraphStore, store)._bolt
    counted: NextRows = {}
    examples = Counter[tuple[str, str, str]]()
    for one in store.export():
        labels = tuple(Relabelled(s.label, s.technique or "", "given") for s in one.steps)
        evidence = Evidence.of(MergePlan(one, labels))
        add(counted, contribution(evidence))
        examples.update((f"{one.id}/{n}", *pair) for n, pair in enumerate(evidence.pairs, 1))
    _, found = bolt.ask(EXAMPLES, {}, limit=1_000_000, seconds=60)
    there = Counter((row[0], row[1], row[2]) for row in found)
    lines = [f"{one}: missing" for one in examples - there]
    lines += [f"{one}: of no trajectory" for one in there - examples]
    _, rows = bolt.ask(ROWS, {}, limit=1_000_000, seconds=60)
    for source, target, row in rows:
        right = counted.pop((Pair(source, target), RowKey.of(row)), Counter[str]())
        lines += [
            f"{row['id']}: {name} is {row.get(name)}, not {right[name]}"
            for name in {*COUNTS, *right, *filter(KINDED, row)}
            if row.get(name, 0) != right[name]
        ]
    return lines + [f"{pair.id} {key}: missing" for pair, key in counted]


@dataclass(frozen=True, slots=True)
class TransitionStats:
    """One NEXT row: a pair of techniques on one device.

    An example counts in the row of its latest measurement's device; `tried` counts measurements and
    failures on this device. "unmeasured" holds unmeasured steps, and failures without a device.
    """

    source: str
    target: str
    device: str
    examples: int
    tried: int
    verified: int
    sum_log2_effect: int  #: fixed point, `EFFECT_SCALE`; of verified steps, over the code before


def transitions(store: GraphStore) -> tuple[TransitionStats, ...]:
    """Every NEXT row that counts something, ordered by source, target, device."""
    answer = []
    # Ordered by pair and device, and so is the answer.
    for pair, by_key in store._from_all("", None).items():
        by_device: dict[str, dict[RowKey, Counts]] = {}
        for key, counts in by_key.items():
            by_device.setdefault(key.device, {})[key] = counts
        for device, rows in by_device.items():
            sums = together(rows)
            numbers = {name: sums[name] for name in COUNTS}
            answer.append(TransitionStats(pair.source, pair.target, device, **numbers))
    return tuple(answer)
