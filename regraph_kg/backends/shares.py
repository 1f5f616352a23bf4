"""The statistics in the graph: (:Share) rows, one problem's part each, and NEXT rows, their sums.

One transaction writes NEXT and the Shares of each pair, device, learner and problem, so that a
search leaves out its own problem by one read. Shares are locked before NEXT, whose locks every
writer wants, and written after it, with its tick.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from regraph_kg.backends import written
from regraph_kg.backends.bolt import GraphRow, Query
from regraph_kg.backends.edges import refuse_missing
from regraph_kg.backends.evidence import Evidence, Pair
from regraph_kg.backends.statistics import (
    COUNTS,
    FAILURES,
    RowCounts,
    RowKey,
    Share,
    row_id,
    share,
    total,
)
from regraph_kg.models.graph import EFFECT_SCALE

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
        return cls(Pair(*node["pair"].split(" ")), RowKey.of(node), node["problem"])


Shares = dict[ShareKey, RowCounts]
"""Per (:Share)."""


def read(node: Mapping[str, Any]) -> RowCounts:
    """The numbers of a Share, or of a NEXT."""
    tally = RowCounts.read(node)
    if tally.best_effect is not None:
        tally.best_problem = node.get("problem", tally.best_problem)
    return tally


def gather(into: Shares, evidence: Evidence, sign: int = 1) -> None:
    """Add the share of a trajectory, or subtract it."""
    for (pair, origin), tally in share(evidence).items():
        key = ShareKey(pair, origin, evidence.problem)
        into.setdefault(key, RowCounts()).add(tally, sign)


def next_rows(shares: Shares) -> Share:
    """The sums of Shares, as their NEXT rows have them."""
    return total({(key.pair, key.origin): tally} for key, tally in shares.items())


def grow(ask: Query, growth: Shares, sums: Share, lowered: Collection[ShareKey]) -> None:
    """Add to Shares, and their sums to NEXT.

    `lowered`: Shares whose best effect is computed anew from their problems' trajectories.
    """
    if not sums:
        return
    for row in ask("claim_shares", ids=sorted(key.id for key in growth)):
        growth[ShareKey.read(row["share"])].add(read(row["share"]))
    truth: Shares = {}
    for row in evidence_of(ask, {key.problem for key in lowered}) if lowered else ():
        gather(truth, Evidence.read(row))
    for key in lowered:
        growth[key].best_effect = truth[key].best_effect if key in truth else None
    ticks = _write_next(ask, sums, growth, lowered)
    _write(ask, growth, ticks)


def rebuild(ask: Query, pairs: Iterable[Pair], truth: Shares) -> None:
    """Set the Shares and NEXT rows of these pairs to `truth`.

    Another Share is emptied now, and deleted by a later `rebuild` or `sweep`.
    """
    nodes = [row["share"] for row in ask("shares", pairs=_ids(pairs))]
    right = {key.id for key in truth}
    wrong = [node for node in nodes if node["id"] not in right]
    old = {one["id"] for one in wrong if is_empty(one) or ShareKey.read(one).id != one["id"]}
    if old:
        ask("delete_shares", ids=sorted(old))
    emptied = {ShareKey.read(node): RowCounts() for node in wrong if node["id"] not in old}
    sums = next_rows(truth)
    places, keep = [pair._asdict() for pair in pairs], [row_id(*key) for key in sums]
    deleted = ask("delete_next", rows=places, keep=keep)
    ticks = _write_next(ask, sums)
    _write(ask, truth | emptied, ticks | {row["id"]: row["tick"] for row in deleted})


def _writers(shares: Shares) -> dict[str, list[int]]:
    """The last writers of NEXT rows by id, from the Shares that a merge writes."""
    by_row: defaultdict[str, list[int]] = defaultdict(list)
    for key, tally in shares.items():
        sign = 1 if any(tally.counts[name] for name in COUNTS) else -1
        by_row[row_id(key.pair, key.origin)].append(sign * written.key(key.problem))
    return by_row


def _write(ask: Query, shares: Shares, ticks: Mapping[str, int]) -> None:
    """Set Shares after their NEXT rows; `ticks` are these rows' ticks by id."""
    nodes = _nodes(shares)
    for node in nodes:
        tick = ticks.get(node["id"].rpartition("\n")[0], 0)
        node |= {"written": [tick], "checksum": written.checksum(node, tick)}
    if nodes:
        ask("set_shares", rows=nodes)


def lowered(before: Evidence, after: Evidence) -> set[ShareKey]:
    """Shares in which a newer judge has lowered a trajectory's best effect."""
    rows = share(after)
    return {
        ShareKey(*key, before.problem)
        for key, tally in share(before).items()
        if tally.best_effect is not None
        and (key not in rows or (rows[key].best_effect or 0.0) < tally.best_effect)
    }


def _write_next(
    ask: Query, sums: Share, grown: Shares | None = None, lowered: Iterable[ShareKey] = ()
) -> dict[str, int]:
    """Set NEXT rows to these sums, or with `grown`, the Shares to be written, add the sums.

    `lowered`: Shares with a lowered best effect, for which all Shares are read. Returns the ticks
    by id.
    """
    places = {key: place(*key) for key in sums}
    claimed = ask("claim_next", rows=list(places.values())) if places else []
    locked = {row["statistics"]["id"]: row["statistics"] for row in claimed}
    if len(locked) != len(places):
        refuse_missing(ask, (end for pair, _ in sums for end in pair))
    bests, writers = _bests(ask, lowered, grown or {}), _writers(grown or {})
    rows, ticks = [], {}
    for key, row in places.items():
        old, tally = locked[row["id"]], sums[key]
        if grown is not None:
            tally.add(RowCounts.read(old))
        if key in bests:
            tally.take_best(bests[key])
        ticks[row["id"]] = tick = written.tick(old) + 1
        last = writers.get(row["id"], [written.ALL])
        numbers = _numbers(key[1], tally) | {"written": [tick, *last]}
        rows.append(row | {"properties": numbers | {"checksum": written.checksum(numbers, tick)}})
    if rows:
        ask("set_next", rows=rows)
    return ticks


def place(pair: Pair, origin: RowKey) -> GraphRow:
    """Where a NEXT is."""
    return {"id": row_id(pair, origin), **pair._asdict()}


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


def sweep(ask: Query) -> None:
    """Delete Shares that count nothing any more, some time after they were emptied."""
    ask("delete_empty_shares")


def evidence_of(ask: Query, problems: Iterable[str]) -> Iterator[GraphRow]:
    """The evidence of all trajectories of some problems."""
    after, names = "", sorted(problems)
    while page := ask("evidence_of_problems", problems=names, after=after, limit=PAGE):
        yield from page
        after = page[-1]["id"]


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
