"""The statistics in the graph: (:Share) rows, one problem's part each, and NEXT rows, their sums.

One transaction writes NEXT and the Shares of each pair, device, learner and problem, so that a
search leaves out its own problem by one read. Shares are locked before NEXT, whose locks every
writer wants, and written after it, with its tick.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from regraph_kg.backends import written
from regraph_kg.backends.bolt import GraphRow, Query
from regraph_kg.backends.evidence import Evidence, Pair
from regraph_kg.backends.statistics import (
    COUNTS,
    FAILURES,
    RowCounts,
    RowKey,
    Share,
    differences,
    row_id,
    share,
)
from regraph_kg.models.graph import EFFECT_SCALE, GraphFinding

PAGE = 2_000
"""Trajectories read at a time."""
SHORT = 8
"""Gains from here on have one decimal."""
MOST_LOG2 = 1_000.0
"""Largest logarithm of a gain that is shown: beyond, it overflows."""


class ShareKey(NamedTuple):
    """The key of a (:Share)."""

    pair: Pair
    origin: RowKey
    problem: str

    @property
    def id(self) -> str:
        """The node's id; no problem's name has a line feed."""
        return f"{row_id(self.pair, self.origin)}\n{self.problem}"

    @classmethod
    def read(cls, node: Mapping[str, Any]) -> "ShareKey":
        """The key in a node's properties."""
        source, _, target = node["pair"].partition(" ")
        origin = RowKey(node["device"], node.get("learner"))
        return cls(Pair(source, target), origin, node["problem"])


Shares = dict[ShareKey, RowCounts]
"""Per (:Share)."""
LastWriters = dict[str, list[int]]
"""By id of a NEXT: the problems whose Shares of it are written (written.py)."""


def read(node: Mapping[str, Any]) -> RowCounts:
    """The numbers of a Share, or of a NEXT."""
    tally = RowCounts.read(node)
    if tally.best_effect is not None:
        tally.best_problem = node.get("problem", tally.best_problem)
    return tally


def gather(into: Shares, problem: str, rows: Share, sign: int = 1) -> None:
    """Add the share of a trajectory of `problem`, or subtract it."""
    for (pair, origin), tally in rows.items():
        into.setdefault(ShareKey(pair, origin, problem), RowCounts()).add(tally, sign)


def claim(
    ask: Query,
    gained: Iterable[tuple[str, Share]],
    lost: Iterable[tuple[str, Share]],
    lowered: Iterable[ShareKey],
) -> Shares:
    """New values of Shares: the stored ones with trajectories' gains, less their former shares.

    Locks the rows until the transaction ends; `write` writes them. `lowered`: rows whose best
    effect is computed anew from their problems' trajectories.
    """
    sums: Shares = {}
    for sign, contributions in ((1, gained), (-1, lost)):
        for problem, counts in contributions:
            gather(sums, problem, counts, sign)
    for row in ask("claim_shares", ids=sorted(key.id for key in sums)):
        sums[ShareKey.read(row["share"])].add(read(row["share"]))
    truth: Shares = {}
    recomputed = sorted(set(lowered), key=lambda key: key.id)
    for row in _evidence(ask, sorted({key.problem for key in recomputed})) if recomputed else ():
        gather(truth, row["problem"], share(Evidence.read(row)))
    for key in recomputed:
        sums[key].best_effect = truth[key].best_effect if key in truth else None
    return sums


def writers(shares: Shares) -> LastWriters:
    """The last writers of NEXT rows, from the Shares that a merge writes."""
    by_row: defaultdict[str, list[int]] = defaultdict(list)
    for key, tally in shares.items():
        sign = 1 if any(tally.counts[name] for name in COUNTS) else -1
        by_row[row_id(key.pair, key.origin)].append(sign * written.key(key.problem))
    return by_row


def write(ask: Query, shares: Shares, ticks: Mapping[str, int]) -> None:
    """Set Shares after their NEXT rows; `ticks` are these rows' ticks by id."""
    nodes = _nodes(shares)
    for node in nodes:
        tick = ticks.get(node["id"].rpartition("\n")[0], 0)
        node |= {"written": [tick], "checksum": written.checksum(node, tick)}
    if nodes:
        ask("set_shares", rows=nodes)


def lowered(before: Share, after: Share) -> set[tuple[Pair, RowKey]]:
    """Rows in which a newer judge has lowered a trajectory's best effect."""
    return {
        key
        for key, tally in before.items()
        if tally.best_effect is not None
        and (key not in after or (after[key].best_effect or 0.0) < tally.best_effect)
    }


def write_next(
    ask: Query,
    sums: Share,
    writers: LastWriters,
    *,
    grown: Shares | None = None,
    lowered: Iterable[ShareKey] = (),
) -> dict[str, int]:
    """Set NEXT rows to these sums, or with `grown`, the Shares to be written, add the sums.

    `lowered`: Shares with a lowered best effect, for which all Shares are read. Returns the ticks
    by id; a row of a missing technique has none.
    """
    places = {key: _place(*key) for key in sums}
    claimed = ask("claim_next", rows=list(places.values())) if places else []
    locked = {row["statistics"]["id"]: row["statistics"] for row in claimed}
    bests = _bests(ask, lowered, grown or {})
    rows, ticks = [], {}
    for key, place in places.items():
        if place["id"] not in locked:
            continue
        old, tally = locked[place["id"]], sums[key]
        if grown is not None:
            tally.add(RowCounts.read(old))
        if key in bests:
            tally.take_best(bests[key])
        ticks[place["id"]] = tick = written.tick(old) + 1
        numbers = _numbers(key[1], tally) | {"written": [tick, *writers.get(place["id"], ())]}
        rows.append(place | {"properties": numbers | {"checksum": written.checksum(numbers, tick)}})
    if rows:
        ask("set_next", rows=rows)
    return ticks


def _place(pair: Pair, origin: RowKey) -> GraphRow:
    return {"id": row_id(pair, origin), "source": pair.source, "target": pair.target}


def _numbers(origin: RowKey, tally: RowCounts) -> GraphRow:
    """Properties of a NEXT; `tries` and `gain` are for people who look at the graph."""
    verified, gained = tally.counts["verified"], tally.counts["sum_log2_effect"]
    gain = 2.0 ** min(gained / verified / EFFECT_SCALE, MOST_LOG2) if verified else None
    return {
        **{name: tally.counts[name] or (None if name in FAILURES else 0) for name in COUNTS},
        "device": origin.device,
        "learner": origin.learner,
        "best_effect": tally.best_effect,
        "best_problem": tally.best_problem,
        "best_other": tally.best_other,
        "tries": f"{verified} of {tally.counts['tried']}",
        "gain": gain and round(gain, 2 if gain < SHORT else 1),
    }


def _bests(ask: Query, keys: Iterable[ShareKey], grown: Shares) -> Share:
    """The best effects of the NEXT rows of these Shares, from all Shares."""
    bests: Share = {(key.pair, key.origin): RowCounts() for key in keys}
    if not bests:
        return bests
    rows = ask("shares", pairs=_ids(pair for pair, _ in bests))
    shares = {ShareKey.read(row["share"]): read(row["share"]) for row in rows} | grown
    for key, tally in shares.items():
        if key[:2] in bests and tally.best_effect is not None:
            counts = RowCounts(best_effect=tally.best_effect, best_problem=key.problem)
            bests[key[:2]].add(counts)
    return bests


def hold(ask: Query, pairs: Iterable[Pair]) -> None:
    """Lock the Shares of these pairs until the transaction ends."""
    ask("lock_shares", pairs=_ids(pairs))


def corrections(ask: Query, pairs: Iterable[Pair], expected: Shares) -> tuple[Shares, LastWriters]:
    """Corrected values of these pairs' Shares that are not as expected; `write` writes them.

    An unexpected Share is emptied now, and deleted by a later `sweep`. Its problem is not noted:
    all other Shares of that NEXT get its tick instead.
    """
    nodes = {row["share"]["id"]: row["share"] for row in ask("shares", pairs=_ids(pairs))}
    right = {key.id for key in expected}
    old = {id_ for id_, node in nodes.items() if is_empty(node) and id_ not in right}
    old |= {id_ for id_, node in nodes.items() if ShareKey.read(node).id != id_}
    if old:
        ask("delete_shares", ids=sorted(old))
    stored = {ShareKey.read(node): node for id_, node in nodes.items() if id_ not in old}
    changed: Shares = {}
    for key, tally in expected.items():
        node = stored.get(key)
        if node is None or not written.is_sound(node) or any(differences(tally, read(node))):
            changed[key] = tally
    by_row = writers(changed)
    unexpected = stored.keys() - expected.keys()
    for row in {row_id(key.pair, key.origin) for key in unexpected}:
        by_row.setdefault(row, []).append(written.SOMEBODY)
    emptied = {(key.pair, key.origin) for key in unexpected}
    changed |= {key: tally for key, tally in expected.items() if key[:2] in emptied}
    return changed | {key: RowCounts() for key in unexpected}, by_row


def sweep(ask: Query) -> None:
    """Delete Shares that count nothing any more, some time after they were emptied."""
    ask("delete_empty_shares")


def findings(ask: Query, totals: Share) -> Iterator[GraphFinding]:
    """Shares that contradict their problem's trajectories; adds the expected sums to `totals`."""
    trajectories = {row["problem"]: row["trajectories"] for row in ask("problems")}
    batch: list[str] = []
    count = 0
    for problem in sorted(trajectories):
        batch.append(problem)
        count += trajectories[problem]
        if count >= PAGE:
            yield from _wrong(ask, batch, totals)
            batch, count = [], 0
    yield from _wrong(ask, batch, totals)


def _wrong(ask: Query, problems: Sequence[str], totals: Share) -> Iterator[GraphFinding]:
    truth: Shares = {}
    for row in _evidence(ask, problems):
        gather(truth, row["problem"], share(Evidence.read(row)))
    add_up(truth, totals)
    nodes = (row["share"] for row in ask("shares_of_problems", problems=problems))
    stored = {ShareKey.read(node): node for node in nodes}
    for key in sorted({*truth, *stored}, key=lambda key: key.id):
        whose = f"of {key.problem} on {key.origin}"
        yield from compare(key.pair, whose, truth.get(key), stored.get(key))


def _evidence(ask: Query, problems: Sequence[str]) -> Iterator[GraphRow]:
    """The evidence of all trajectories of some problems."""
    after = ""
    while page := ask("evidence_of_problems", problems=problems, after=after, limit=PAGE):
        yield from page
        after = page[-1]["id"]


def add_up(shares: Shares, into: Share) -> None:
    """Add Shares to their NEXT rows."""
    for key, tally in shares.items():
        into.setdefault((key.pair, key.origin), RowCounts()).add(tally)


def compare(
    pair: Pair, whose: str, expected: RowCounts | None, node: Mapping[str, Any] | None
) -> Iterator[GraphFinding]:
    """The properties of a NEXT or a Share that contradict its trajectories."""
    counts = RowCounts() if node is None else read(node)
    wrong = [*differences(expected or RowCounts(), counts)]
    if not wrong and node is not None and not written.is_sound(node):
        wrong = [written.UNSOUND]
    for name, right, actual in wrong:
        yield GraphFinding("statistics", *pair, f"{name} {whose}", right, actual)


def _nodes(shares: Shares) -> list[GraphRow]:
    """Properties of the nodes, sorted by id, without zero and unknown ones."""
    return [
        {
            "id": key.id,
            "pair": key.pair.id,
            "source": key.pair.source,
            "problem": key.problem,
            "device": key.origin.device,
            **({} if key.origin.learner is None else {"learner": key.origin.learner}),
            **({} if tally.best_effect is None else {"best_effect": tally.best_effect}),
            **{name: tally.counts[name] for name in COUNTS if tally.counts[name]},
        }
        for key, tally in sorted(shares.items(), key=lambda row: row[0].id)
    ]


def is_empty(node: Mapping[str, Any]) -> bool:
    """Whether a node counts nothing any more."""
    return not any(node.get(name) for name in COUNTS)


def _ids(pairs: Iterable[Pair]) -> list[str]:
    return sorted({pair.id for pair in pairs})
