"""Examples of a pair in the graph: TRANSITIONs up to the bound, the rest (:Archived) nodes.

An (:Archived) node holds only the example's own properties; its trajectory has the rest, and the
code before it is the code after the step before. Newcomers have no embedding: an ingest embeds
the remaining TRANSITIONs at its end.

An (:Edge) node per pair counts its TRANSITIONs and holds the `bounded.Floors`. Every writer that
moves examples of a pair holds the Edge's lock. Floors are read without it: the next pruning
displaces a newcomer that was let in by mistake.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from regraph_kg.backends.bolt import GraphRow, Overtaken, Query
from regraph_kg.backends.bounded import Floors, Mark, choose, limit
from regraph_kg.backends.evidence import Evidence, Pair, latest
from regraph_kg.errors import StoreError

MEASURED = ("verified_on", "effects", "effect")
"""Properties of measurements that decide whether an archived example comes back."""
PROVENANCE = ("model", "licence", "prompt_hash", "created")
"""Properties that a TRANSITION repeats of its trajectory."""
VECTORS = ("embedding", "embedding_2", "code_embedding", "code_embedding_2")
LEFT_OUT = frozenset({*PROVENANCE, *VECTORS, *latest(())} - {*MEASURED})
"""Properties of a TRANSITION that can be made again, so that no (:Archived) node has them."""
RESTORED = 500
"""Examples restored by one statement, which holds their texts."""
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

    @property
    def mark(self) -> Mark:
        """The example's mark."""
        return mark_of(self.properties)

    def row(self) -> GraphRow:
        """The row of a TRANSITION."""
        return {
            "source": self.pair.source,
            "target": self.pair.target,
            "properties": self.properties,
        }


def mark_of(properties: Mapping[str, Any]) -> Mark:
    """The mark in the properties of an example."""
    return Mark(
        properties["id"],
        properties["problem"],
        _effects(properties["verified_on"], properties["effects"]),
        properties.get("learner"),
    )


def _effects(devices: Sequence[str], effects: Sequence[float]) -> dict[str, float]:
    return dict(zip(map(sys.intern, devices), effects, strict=True))


def remeasured(trajectory: str, evidence: Evidence, step: int) -> Placed:
    """The properties of a step's example (steps from 0) that its measurements decide."""
    return Placed(
        evidence.pairs[step],
        {"id": f"{trajectory}/{step + 1}", "trajectory": trajectory}
        | latest(evidence.measurements[step]),
    )


def hold(ask: Query, pairs: Iterable[Pair]) -> None:
    """Nothing moves within these pairs until the transaction ends."""
    _add_to_edges(ask, pairs)


def add(ask: Query, examples: Sequence[Placed], bound: int, moved: Iterable[Pair] = ()) -> None:
    """Add new examples: each becomes a TRANSITION or goes straight to the archive.

    `moved`: pairs that the transaction moves or counts besides; one statement locks all pairs.
    """
    floors = _floors(ask, {example.pair for example in examples}) if examples else {}
    kept = [
        example for example in examples if floors.get(example.pair, Floors()).admit(example.mark)
    ]
    if also := set(moved):
        hold(ask, also.union(example.pair for example in kept))
    admitted = {example.properties["id"] for example in kept}
    _archive(ask, [example for example in examples if example.properties["id"] not in admitted])
    _keep(ask, kept, bound)


def update(ask: Query, examples: Sequence[Placed], bound: int) -> None:
    """Give known examples the properties that measurements decide.

    An archived example that now beats the floors comes back as a TRANSITION; a worse one stays
    where it is until its pair is chosen anew.
    """
    pairs = {example.pair for example in examples}
    hold(ask, pairs)
    rows = [example.row() for example in _sorted(examples)]
    kept = {row["id"] for row in ask("update_transitions", rows=rows)}
    rest = [row for row in rows if row["properties"]["id"] not in kept]
    if not rest:
        return
    floors = _floors(ask, pairs)
    back = []
    rest = [{name: row["properties"].get(name) for name in ("id", *MEASURED)} for row in rest]
    for row in ask("update_archived", rows=rest):
        pair, candidate = Pair(row["source"], row["target"]), mark_of(row)
        if floors.get(pair, Floors()).admit(candidate):
            back.append((pair, candidate))
    _restore(ask, [candidate.id for _, candidate in back])
    _prune(ask, _count_kept(ask, [pair for pair, _ in back], bound), bound)


def delete(ask: Query, places: Iterable[tuple[str, Pair]]) -> None:
    """Delete examples by id, wherever they lie; the caller locks and recounts their pairs."""
    rows = _by_pair((pair, key) for key, pair in places)
    ask("purge_transitions", rows=rows)
    ask("delete_archived", ids=[key for row in rows for key in row["ids"]])


def reselect(ask: Query, pairs: Iterable[Pair], bound: int) -> None:
    """Choose anew, from all examples of these pairs, which are TRANSITIONs.

    For curation, repair and another bound. Reads all examples, one pair's at a time. Pairs without
    an example lose their (:Edge).
    """
    distinct = sorted(set(pairs))
    hold(ask, distinct)
    for pair in distinct:
        _choose_anew(ask, pair, bound)


def _choose_anew(ask: Query, pair: Pair, bound: int) -> None:
    kept = _marks(ask, "kept_marks", [pair])[pair]
    archived = _marks(ask, "archived_marks", [pair])[pair]
    everyone = [*kept, *archived]
    chosen = choose(everyone, bound)
    surplus = [mark for mark in everyone if mark.id not in chosen]
    stay = [mark for mark in everyone if mark.id in chosen]
    _displace(ask, [(pair, mark) for mark in kept if mark.id not in chosen])
    _restore(ask, [mark.id for mark in archived if mark.id in chosen])
    floors = Floors().after(stay, surplus, bound).text() if surplus else None
    ask("set_edges", rows=[{"id": pair.id, "kept": len(chosen), "floors": floors}])


def count_failed_codes(ask: Query, failures: Mapping[Pair, int]) -> dict[Pair, int]:
    """Make room for the code of new failures: how many of each pair may keep theirs."""
    grown = _add_to_edges(ask, failures, codes=failures)
    return {
        pair: min(count, max(0, FAILED_CODES - grown[pair]["codes_before"]))
        for pair, count in failures.items()
    }


def _keep(ask: Query, examples: Sequence[Placed], bound: int) -> None:
    """Make TRANSITIONs, and prune the pairs that then have too many."""
    full = _count_kept(ask, [example.pair for example in examples], bound)
    rows = [example.row() for example in _sorted(examples)]
    if rows and ask("create_transitions", rows=rows)[0]["written"] != len(rows):
        refuse_missing(ask, (end for example in examples for end in example.pair))
    _prune(ask, full, bound)


def _count_kept(ask: Query, pairs: Iterable[Pair], bound: int) -> list[Pair]:
    """Count new TRANSITIONs, one per element of `pairs`; return the pairs that have too many."""
    new = Counter(pairs)
    grown = _add_to_edges(ask, new, kept=new)
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
    if not pairs:
        return
    kept, floors = _marks(ask, "kept_marks", pairs), _floors(ask, pairs)
    edges, displaced = [], []
    for pair in pairs:
        chosen = choose(kept[pair], bound)
        surplus = [mark for mark in kept[pair] if mark.id not in chosen]
        displaced += [(pair, mark) for mark in surplus]
        stay = [mark for mark in kept[pair] if mark.id in chosen]
        above = floors.get(pair, Floors()).after(stay, surplus, bound)
        edges.append({"id": pair.id, "kept": len(chosen), "floors": above.text()})
    _displace(ask, displaced)
    ask("set_edges", rows=edges)


def _archive(ask: Query, examples: Iterable[Placed]) -> None:
    """Write newcomers that no pair has room for."""
    rows = [_archived(example) for example in examples]
    if rows:
        ask("create_archived", rows=rows)


def _archived(example: Placed) -> GraphRow:
    """Properties of an (:Archived) node; `archive_transitions.cypher` makes the same ones."""
    properties = {name: value for name, value in example.properties.items() if name not in LEFT_OUT}
    if properties["step"] > 1:
        del properties["before"]
    return properties | _location(example.pair)


def _displace(ask: Query, examples: Iterable[tuple[Pair, Mark]]) -> None:
    """Move TRANSITIONs to the archive."""
    if rows := _by_pair((pair, mark.id) for pair, mark in examples):
        ask("archive_transitions", rows=rows, without=dict.fromkeys(LEFT_OUT))


def _restore(ask: Query, ids: Sequence[str]) -> None:
    """Make archived examples TRANSITIONs again, with the properties that their trajectory holds."""
    for first in range(0, len(ids), RESTORED):
        _restore_some(ask, ids[first : first + RESTORED])


def _restore_some(ask: Query, ids: Sequence[str]) -> None:
    rows = ask("read_archived", ids=ids)
    later = [_step_before(row) for row in rows if row["example"]["step"] > 1]
    codes = {row["id"]: row["code"] for row in ask("codes_of_steps", rows=later)} if later else {}
    examples = [_restored(row, codes) for row in rows]
    ask("delete_archived", ids=ids)
    ask("create_transitions", rows=[example.row() for example in _sorted(examples)])


def _restored(row: GraphRow, codes: Mapping[str, str]) -> Placed:
    archived, trajectory = row["example"], row["trajectory"]
    number = archived["step"]
    measured = Evidence.read(trajectory).measurements[number - 1]
    pair = Pair(archived["source"], archived["target"])
    properties = {
        **{name: value for name, value in archived.items() if name not in _location(pair)},
        "before": archived.get("before") if number == 1 else codes[_step_before(row)["id"]],
        **{name: trajectory[name] for name in PROVENANCE},
        **latest(measured),
    }
    return Placed(pair, properties)


def _step_before(row: GraphRow) -> GraphRow:
    """Id and pair of the example of the step before."""
    archived, path = row["example"], row["trajectory"]["path"]
    number = archived["step"] - 1
    return {
        "id": f"{archived['trajectory']}/{number}",
        "source": path[number - 1],
        "target": path[number],
    }


def _by_pair(examples: Iterable[tuple[Pair, str]]) -> list[GraphRow]:
    """A row for each pair, with the ids of its examples."""
    ids: defaultdict[Pair, list[str]] = defaultdict(list)
    for pair, key in examples:
        ids[pair].append(key)
    return [{**_location(pair), "ids": ids[pair]} for pair in sorted(ids)]


def _location(pair: Pair) -> GraphRow:
    """The pair's properties of an archived example."""
    return {"source": pair.source, "target": pair.target, "pair": pair.id}


def _floors(ask: Query, pairs: Iterable[Pair]) -> dict[Pair, Floors]:
    by_id = {pair.id: pair for pair in pairs}
    rows = ask("edge_floors", ids=sorted(by_id))
    return {by_id[row["id"]]: Floors.read(row["floors"]) for row in rows}


def _marks(ask: Query, statement: str, pairs: Sequence[Pair]) -> dict[Pair, list[Mark]]:
    by_id = {pair.id: pair for pair in pairs}
    rows = [{"id": key, "source": p.source, "target": p.target} for key, p in by_id.items()]
    marks: defaultdict[Pair, list[Mark]] = defaultdict(list)
    for row in ask(statement, rows=rows):
        marks[by_id[row["pair"]]] = [
            Mark(key, sys.intern(problem), _effects(devices, effects), learner)
            for key, problem, devices, effects, learner in row["marks"]
        ]
    return marks


def _sorted(examples: Iterable[Placed]) -> list[Placed]:
    return sorted(examples, key=lambda example: (example.pair, example.properties["id"]))


def refuse_missing(ask: Query, ids: Iterable[str]) -> None:
    """Raise for the techniques of `ids` that the graph lacks, which undoes the transaction."""
    rows = ask("missing_techniques", ids=sorted(set(ids)))
    raise MissingTechniques([row["id"] for row in rows])
