"""TRANSITIONs: the best examples of a pair, up to the bound, as relationships.

A TRANSITION repeats a step whose trajectory and (:Steps) hold all of it (`evidence.example`), so
that it is made and deleted at will. Newcomers have no embedding: an ingest embeds the remaining
TRANSITIONs at its end.

An (:Edge) node per pair counts its TRANSITIONs. Every writer that makes or moves one holds the
lock of its Edge.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from regraph_kg.backends.bolt import GraphRow, Overtaken, Query
from regraph_kg.backends.bounded import Mark, Selection, limit
from regraph_kg.backends.evidence import Evidence, Pair, effects_of, example, latest
from regraph_kg.errors import StoreError
from regraph_kg.models.trajectory import standing

VECTORS = ("embedding", "embedding_2", "code_embedding", "code_embedding_2")
AT_ONCE = 500
"""TRANSITIONs made again by one statement, which holds their texts."""
FAILED_CODES = 20
"""Failures of a pair whose code is kept."""


class MissingTechniques(StoreError):
    """Examples of techniques that are not in the graph: nothing was written."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__(
            f"merge: neither the graph nor the plan knows {', '.join(ids)}; nothing was written;"
            " if it was purged just now, run the same command again"
        )
        self.ids = ids


@dataclass(frozen=True, slots=True)
class Placed:
    """An example: its pair, and its properties as a TRANSITION holds them."""

    pair: Pair
    properties: Mapping[str, Any]

    def row(self) -> GraphRow:
        """The row of a TRANSITION."""
        return {**self.pair._asdict(), "properties": self.properties}


def _effects(devices: Sequence[str], effects: Sequence[float]) -> dict[str, float]:
    return dict(zip(map(sys.intern, devices), effects, strict=True))


def remeasured(trajectory: str, evidence: Evidence, step: int) -> Placed:
    """The properties of a step's example (steps from 0) that its measurements decide."""
    same = {"problem": evidence.problem, "learner": evidence.learner}
    return Placed(
        evidence.pairs[step],
        {"id": f"{trajectory}/{step + 1}"} | same | latest(evidence.measurements[step]),
    )


def marks(trajectory: str, evidence: Evidence) -> list[tuple[Pair, Mark]]:
    """The marks of a trajectory's examples, with their pairs."""
    effects = (effects_of(standing(measured)) for measured in evidence.measurements)
    return [
        (pair, Mark(f"{trajectory}/{number}", evidence.problem, known, evidence.learner))
        for number, (pair, known) in enumerate(zip(evidence.pairs, effects, strict=True), 1)
    ]


def hold(ask: Query, pairs: Iterable[Pair]) -> None:
    """Nothing moves within these pairs until the transaction ends."""
    _add_to_edges(ask, pairs)


def add(ask: Query, examples: Sequence[Placed], bound: int, moved: Iterable[Pair] = ()) -> None:
    """Make new examples TRANSITIONs, and prune the pairs that then have too many.

    `moved`: pairs that the transaction moves or counts besides; one statement locks all pairs.
    """
    full = _count_kept(ask, [placed.pair for placed in examples], bound, moved)
    _create(ask, examples)
    _prune(ask, full, bound)


def update(ask: Query, examples: Sequence[Placed], bound: int) -> None:
    """Give known examples the properties that measurements decide.

    A displaced example competes again; one that became worse stays until its pair is pruned.
    """
    hold(ask, {placed.pair for placed in examples})
    rows = [placed.row() for placed in _sorted(examples)]
    kept = {row["id"] for row in ask("update_transitions", rows=rows)}
    rest = [(p.pair, p.properties["id"]) for p in examples if p.properties["id"] not in kept]
    made = _make_again(ask, rest)
    _prune(ask, _count_kept(ask, made, bound), bound)


def reselect(ask: Query, selections: Mapping[Pair, Selection]) -> None:
    """Make exactly the chosen examples of these pairs TRANSITIONs.

    For curation, purge, repair and another bound, whose caller adds up all examples of the pairs.
    """
    hold(ask, selections)
    present = kept_ids(ask, selections)
    for selection in selections.values():
        selection.cut()
    chosen = {pair: {mark.id for mark in selection.stay} for pair, selection in selections.items()}
    _delete(ask, [(pair, key) for pair, ids in present.items() for key in ids - chosen[pair]])
    lacking = [(pair, key) for pair, ids in chosen.items() for key in sorted(ids - present[pair])]
    kept = Counter(_make_again(ask, lacking))
    for pair, ids in present.items():
        kept[pair] += len(ids & chosen[pair])
    ask("set_edges", rows=[{"id": pair.id, "kept": kept[pair]} for pair in sorted(selections)])


def kept_ids(ask: Query, pairs: Iterable[Pair]) -> dict[Pair, set[str]]:
    """Ids of the examples of these pairs that are TRANSITIONs."""
    marks = _marks(ask, sorted(pairs))
    return {pair: {mark.id for mark in marks.get(pair, ())} for pair in pairs}


def count_failed_codes(ask: Query, failures: Mapping[Pair, int]) -> dict[Pair, int]:
    """Make room for the code of new failures: how many of each pair may keep theirs."""
    grown = _add_to_edges(ask, failures, codes=failures)
    return {
        pair: min(count, max(0, FAILED_CODES - grown[pair]["codes_before"]))
        for pair, count in failures.items()
    }


def _create(ask: Query, examples: Sequence[Placed]) -> None:
    rows = [placed.row() for placed in _sorted(examples)]
    if rows and ask("create_transitions", rows=rows)[0]["written"] != len(rows):
        refuse_missing(ask, (end for placed in examples for end in placed.pair))


def _count_kept(
    ask: Query, pairs: Iterable[Pair], bound: int, also: Iterable[Pair] = ()
) -> list[Pair]:
    """Count new TRANSITIONs, one per element of `pairs`; return the pairs that have too many.

    `also`: pairs that are locked besides.
    """
    new = Counter(pairs)
    grown = _add_to_edges(ask, {*new, *also}, kept=new)
    return [pair for pair, row in grown.items() if row["kept"] > limit(bound)]


def _add_to_edges(
    ask: Query,
    pairs: Iterable[Pair],
    kept: Mapping[Pair, int] = MappingProxyType({}),
    codes: Mapping[Pair, int] = MappingProxyType({}),
) -> dict[Pair, GraphRow]:
    """Add to the counts of Edges and lock them; `Overtaken` where a writer deleted one."""
    counts = {
        pair: {"id": pair.id, "kept": kept.get(pair, 0), "codes": codes.get(pair, 0)}
        for pair in sorted(set(pairs))
    }
    rows = list(counts.values())
    grown = ask("add_to_edges", rows=rows, most_codes=FAILED_CODES) if rows else []
    if any(row["kept"] is None for row in grown):
        raise Overtaken
    by_id = {row["id"]: row for row in grown}
    return {pair: by_id[pair.id] for pair in counts}


def _prune(ask: Query, pairs: Sequence[Pair], bound: int) -> None:
    """Choose again among the TRANSITIONs of these pairs."""
    if not pairs:
        return
    selections = {pair: Selection(bound, kept) for pair, kept in _marks(ask, pairs).items()}
    _delete(ask, [(pair, mark.id) for pair, one in selections.items() for mark in one.cut()])
    rows = [{"id": pair.id, "kept": len(one.stay)} for pair, one in selections.items()]
    ask("set_edges", rows=rows)


def _delete(ask: Query, examples: Iterable[tuple[Pair, str]]) -> None:
    """Delete TRANSITIONs by id: their trajectories keep what they say."""
    ids: defaultdict[Pair, list[str]] = defaultdict(list)
    for pair, key in examples:
        ids[pair].append(key)
    rows = [{**pair._asdict(), "ids": ids[pair]} for pair in sorted(ids)]
    if rows:
        ask("delete_transitions", rows=rows)


def _make_again(ask: Query, examples: Sequence[tuple[Pair, str]]) -> list[Pair]:
    """Make TRANSITIONs by id; the pairs of those whose trajectories are there."""
    made: list[Pair] = []
    for first in range(0, len(examples), AT_ONCE):
        rows = [
            {**pair._asdict(), "trajectory": key.partition("/")[0], "step": int(key.split("/")[1])}
            for pair, key in examples[first : first + AT_ONCE]
        ]
        placed = [
            Placed(
                Pair.of(row),
                example(row["node"], row["steps"], row["step"], Evidence.read(row["node"])),
            )
            for row in ask("read_steps", rows=rows)
        ]
        _create(ask, placed)
        made += [one.pair for one in placed]
    return made


def _marks(ask: Query, pairs: Sequence[Pair]) -> dict[Pair, list[Mark]]:
    by_id = {pair.id: pair for pair in pairs}
    rows = [{"id": key, **pair._asdict()} for key, pair in by_id.items()]
    marks: defaultdict[Pair, list[Mark]] = defaultdict(list)
    for row in ask("kept_marks", rows=rows):
        marks[by_id[row["pair"]]] = [
            Mark(key, sys.intern(problem), _effects(devices, effects), learner)
            for key, problem, devices, effects, learner in row["marks"]
        ]
    return marks


def _sorted(examples: Iterable[Placed]) -> list[Placed]:
    return sorted(examples, key=lambda example: (example.pair, example.properties["id"]))


def refuse_missing(ask: Query, ids: Iterable[str]) -> None:
    """Raise for the techniques of `ids` that the graph lacks, which undoes the transaction."""
    wanted = set(ids)
    known = {row["id"] for row in ask("read_techniques", ids=sorted(wanted))}
    raise MissingTechniques(sorted(wanted - known))
