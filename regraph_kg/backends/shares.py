"""What each problem has in the statistics: (:Share) rows, of which NEXT is the sum.

One for each pair, device, learner and problem, written in the transaction that writes NEXT, so that
a search can leave out its own problem by one read. A merge holds them before NEXT, whose locks
every writer wants, and writes them after it, with its tick. Not covered: when a Share last grew.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from regraph_kg.backends import written
from regraph_kg.backends.bolt import GraphRow, Query
from regraph_kg.backends.evidence import Evidence
from regraph_kg.backends.statistics import (
    COUNTS,
    Pair,
    RowCounts,
    RowKey,
    Share,
    differences,
    next_bests,
    row_id,
    share,
)
from regraph_kg.models.graph import GraphFinding

PAGE = 2_000
"""Trajectories read at a time."""


class ShareKey(NamedTuple):
    """Whose numbers a (:Share) holds."""

    pair: Pair
    origin: RowKey
    problem: str

    @property
    def id(self) -> str:
        """Of the node; no problem's name has a line feed."""
        return f"{row_id(self.pair, self.origin)}\n{self.problem}"

    @classmethod
    def read(cls, node: Mapping[str, Any]) -> "ShareKey":
        """Of a node's properties."""
        source, _, target = node["pair"].partition(" ")
        origin = RowKey(node["device"], node.get("learner"))
        return cls(Pair(source, target), origin, node["problem"])


Shares = dict[ShareKey, RowCounts]
"""Per (:Share)."""
LastWriters = dict[str, list[int]]
"""By id of a NEXT: the problems whose rows in it are written (written.py)."""


def read(node: Mapping[str, Any]) -> RowCounts:
    """The numbers of a node."""
    tally = RowCounts.read(node)
    if tally.best_effect is not None:
        tally.best_problem = node["problem"]
    return tally


def gather(into: Shares, problem: str, rows: Share, sign: int = 1) -> None:
    """Add what a trajectory of `problem` contributes, or subtract it."""
    for (pair, origin), tally in rows.items():
        into.setdefault(ShareKey(pair, origin, problem), RowCounts()).add(tally, sign)


def claim(
    ask: Query,
    gained: Iterable[tuple[str, Share]],
    lost: Iterable[tuple[str, Share]],
    lowered: Iterable[ShareKey],
) -> Shares:
    """What rows come to with what trajectories of some problems gained, less what they had before.

    Holds them until the transaction ends; `write` writes them. `lowered`: rows whose best effect is
    looked for anew, in their problems' trajectories.
    """
    sums: Shares = {}
    for sign, some in ((1, gained), (-1, lost)):
        for problem, told in some:
            gather(sums, problem, told, sign)
    for row in ask("claim_shares", ids=sorted(key.id for key in sums)):
        sums[ShareKey.read(row["share"])].add(read(row["share"]))
    own: Shares = {}
    wanted = sorted(set(lowered), key=lambda key: key.id)
    for problem, source in sorted({(key.problem, key.pair.source) for key in wanted}):
        for node in ask("problem_evidence", problem=problem, technique=source):
            gather(own, problem, share(Evidence.read(node)))
    for key in wanted:
        sums[key].best_effect = own[key].best_effect if key in own else None
    return sums


def writers(shares: Shares) -> LastWriters:
    """Of rows that a merge writes."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for key, tally in shares.items():
        sign = 1 if any(tally.counts[name] for name in COUNTS) else -1
        found[row_id(key.pair, key.origin)].append(sign * written.key(key.problem))
    return found


def write(ask: Query, shares: Shares, ticks: Mapping[str, int]) -> None:
    """Set the rows, after the NEXT rows that they are in: by id, the ticks of these."""
    nodes = _nodes(shares)
    for node in nodes:
        tick = ticks.get(node["id"].rpartition("\n")[0], 0)
        node |= {"written": [tick], "checksum": written.checksum(node, tick)}
    if nodes:
        ask("set_shares", rows=nodes)


def lowered(before: Share, after: Share) -> set[tuple[Pair, RowKey]]:
    """Where a trajectory's best effect is not what it was: a newer judge has measured it."""
    return {
        key
        for key, tally in before.items()
        if tally.best_effect is not None
        and (key not in after or (after[key].best_effect or 0.0) < tally.best_effect)
    }


def lower(ask: Query, keys: Iterable[ShareKey]) -> None:
    """Look anew for the best effects of the NEXT rows that these rows are in; reads all of them."""
    wanted = sorted(set(keys), key=lambda key: key.id)
    if not wanted:
        return
    bests: Share = {(key.pair, key.origin): RowCounts() for key in wanted}
    for row in ask("best_of_shares", pairs=_ids(key.pair for key in wanted)):
        key = ShareKey.read(row["share"])
        if (key.pair, key.origin) in bests:
            bests[key.pair, key.origin].add(read(row["share"]))
    ask("lower_next", rows=next_bests(bests))


def hold(ask: Query, pairs: Iterable[Pair]) -> None:
    """Nobody else writes the rows of these pairs until the transaction ends."""
    ask("lock_shares", pairs=_ids(pairs))


def wrong(ask: Query, pairs: Iterable[Pair], expected: Shares) -> tuple[Shares, LastWriters]:
    """Those rows of these pairs that are not as expected, as they must be; `write` writes them.

    What is not expected is emptied now, and deleted by whoever comes next (`sweep`). Who had it is
    not told: all others of that NEXT get its tick instead.
    """
    nodes = {row["share"]["id"]: row["share"] for row in ask("shares", pairs=_ids(pairs))}
    right = {key.id for key in expected}
    old = {id_ for id_, node in nodes.items() if is_empty(node) and id_ not in right}
    old |= {id_ for id_, node in nodes.items() if ShareKey.read(node).id != id_}
    if old:
        ask("delete_shares", ids=sorted(old))
    stored = {ShareKey.read(node): node for id_, node in nodes.items() if id_ not in old}
    found: Shares = {}
    for key, tally in expected.items():
        node = stored.get(key)
        if node is None or not written.whole(node) or any(differences(tally, read(node))):
            found[key] = tally
    by_row = writers(found)
    gone = stored.keys() - expected.keys()
    for row in {row_id(key.pair, key.origin) for key in gone}:
        by_row.setdefault(row, []).append(written.SOMEBODY)
    emptied = {(key.pair, key.origin) for key in gone}
    found |= {key: tally for key, tally in expected.items() if key[:2] in emptied}
    return found | {key: RowCounts() for key in gone}, by_row


def sweep(ask: Query) -> None:
    """Delete the rows that count nothing any more, some time after they were emptied."""
    ask("delete_empty_shares")


def findings(ask: Query) -> Iterator[GraphFinding]:
    """Where rows are not what their problem's trajectories say; some problems at a time."""
    trajectories = {row["problem"]: row["trajectories"] for row in ask("problems")}
    some: list[str] = []
    count = 0
    for problem in sorted(trajectories):
        some.append(problem)
        count += trajectories[problem]
        if count >= PAGE:
            yield from _wrong(ask, some)
            some, count = [], 0
    yield from _wrong(ask, some)


def _wrong(ask: Query, problems: Sequence[str]) -> Iterator[GraphFinding]:
    truth: Shares = {}
    after = ""
    while page := ask("evidence_of_problems", problems=problems, after=after, limit=PAGE):
        for row in page:
            gather(truth, row["problem"], share(Evidence.read(row)))
        after = page[-1]["id"]
    rows = (row["share"] for row in ask("shares_of_problems", problems=problems))
    stored: Shares = {}
    unsound = set()
    for row in rows:
        stored[key := ShareKey.read(row)] = read(row)
        if not written.whole(row):
            unsound.add(key)
    for key in sorted({*truth, *stored}, key=lambda one: one.id):
        numbers = truth.get(key, RowCounts()), stored.get(key, RowCounts())
        wrong = [*differences(*numbers)]
        if not wrong and key in unsound:
            wrong = [written.UNSOUND]
        for name, right, found in wrong:
            what = f"{name} of {key.problem} on {key.origin}"
            yield GraphFinding("statistics", *key.pair, what, right, found)


def _nodes(shares: Shares) -> list[GraphRow]:
    """Properties of the nodes, sorted by id; without what is zero or unknown."""
    return [
        {
            "id": key.id,
            "pair": f"{key.pair.source} {key.pair.target}",
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
    return sorted({f"{pair.source} {pair.target}" for pair in pairs})
