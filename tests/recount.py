"""Counts a graph again from its trajectories, and compares that with what the graph has."""

import re
from collections import Counter
from typing import cast

from regraph_kg.backends.evidence import Evidence, Pair
from regraph_kg.backends.statistics import COUNTS, NextRows, RowKey, add, contribution
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
