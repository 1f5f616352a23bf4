"""Derived rows from the truth: Share, NEXT, TRANSITION, Edge and Failure rows, rebuilt or compared.

The truth is the trajectories (path, measurements, failures) with their (:Steps). `recount` rebuilds
pairs inside one transaction; `findings` compares a whole graph, page by page.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from regraph_kg.backends import edges, shares
from regraph_kg.backends.bolt import GraphRow, Query
from regraph_kg.backends.bounded import Selection, limit
from regraph_kg.backends.evidence import Evidence, Pair
from regraph_kg.backends.merge import failure_node, read_context
from regraph_kg.backends.shares import Shares, gather
from regraph_kg.backends.statistics import RowCounts, RowKey, Share, row_id, share, total
from regraph_kg.models.graph import GraphFinding

PAGE = 2_000
"""Trajectories read at a time."""
PAIRS = 10
"""Pairs rebuilt at a time: each has a Share for every problem and device."""


def recount(ask: Query, pairs: Iterable[Pair]) -> None:
    """Rebuild the Share, NEXT, Edge and Failure rows of `pairs`, and choose their TRANSITIONs anew.

    Part of the transaction that moved their examples, or of a repair. Reads every trajectory
    through one of the pairs' sources, a page at a time: once the pairs' rows are locked, no writer
    who adds to them can commit.
    """
    distinct = sorted(set(pairs))
    if not distinct:
        return
    rows = _rows(distinct)
    edges.hold(ask, distinct)
    ask("lock_techniques", ids=sorted({end for pair in distinct for end in pair}))
    shares.hold(ask, distinct)
    ask("lock_next", rows=rows)
    ids = [row["id"] for row in rows]
    existing = [row["id"] for row in ask("failures_of_pairs", pairs=ids)]
    truth: dict[Pair, Shares] = {pair: {} for pair in distinct}
    bound = read_context(ask).bound
    selections = {pair: Selection(bound) for pair in distinct}
    right: set[str] = set()
    for page in _pages(ask, sorted({pair.source for pair in distinct})):
        failures = sorted(_gather(page, truth, selections), key=lambda node: str(node["id"]))
        if failures:
            ask("write_failures", rows=failures)
        right.update(node["id"] for node in failures)
    for first in range(0, len(distinct), PAIRS):
        _rebuild(ask, distinct[first : first + PAIRS], truth)
    ask("delete_failures", ids=sorted(key for key in existing if key not in right))
    edges.reselect(ask, selections)
    ask("finish_edges", ids=ids)


def _gather(
    page: Iterable[GraphRow], truth: Mapping[Pair, Shares], selections: Mapping[Pair, Selection]
) -> Iterator[GraphRow]:
    """Add the trajectories' shares and examples; yield their (:Failure) nodes, without code."""
    for row in page:
        evidence = Evidence.read(row)
        for key, tally in share(evidence).items():
            if key[0] in truth:
                gather(truth[key[0]], row["problem"], {key: tally})
        for pair, mark in edges.marks(row["id"], evidence):
            if pair in selections:
                selections[pair].add(mark)
        for failure, pair in evidence.failed:
            if pair in truth:
                node = failure_node(row["id"], row["problem"], failure, pair)
                del node["code"]
                yield node


def _rows(pairs: Iterable[Pair]) -> list[GraphRow]:
    return [{"id": pair.id, **pair._asdict()} for pair in pairs]


def _rebuild(ask: Query, pairs: Sequence[Pair], truth: dict[Pair, Shares]) -> None:
    """Rebuild the Share and NEXT rows of some pairs, and take these out of `truth`."""
    by_problem: Shares = {}
    for pair in pairs:
        by_problem |= truth.pop(pair)
    changed, writers = shares.corrections(ask, pairs, by_problem)
    sums: Share = {}
    shares.add_up(by_problem, sums)
    sums = total([sums])
    keep = [row_id(*key) for key in sums]
    deleted = ask("delete_next", rows=_rows(pairs), keep=keep)
    ticks = shares.write_next(ask, sums, writers)
    if len(ticks) != len(sums):
        edges.refuse_missing(ask, (end for pair in pairs for end in pair))
    shares.write(ask, changed, ticks | {row["id"]: row["tick"] for row in deleted})


def findings(ask: Query) -> Iterator[GraphFinding]:
    """Derived rows and examples of a graph that contradict its trajectories."""
    steps: Counter[Pair] = Counter()
    failures: dict[str, str] = {}
    for page in _pages(ask):
        for row in page:
            evidence = Evidence.read(row)
            steps.update(evidence.pairs)
            for failure, pair in evidence.failed:
                failures[f"{row['id']}/{failure.key}"] = sys.intern(pair.id)
        yield from _misplaced(ask, page)
    totals: Share = {}
    yield from shares.findings(ask, totals)
    yield from _wrong_sums(ask, totals)
    yield from _wrong_edges(ask, steps)
    yield from _wrong_failures(ask, failures)


def _pages(ask: Query, through: Sequence[str] | None = None) -> Iterator[list[GraphRow]]:
    after = ""
    while page := ask("page_of_evidence", after=after, limit=PAGE, through=through):
        yield page
        after = page[-1]["id"]


def _misplaced(ask: Query, page: Sequence[GraphRow]) -> Iterator[GraphFinding]:
    """Trajectories without their texts, and TRANSITIONs that no trajectory tells of."""
    ends = {"first": page[0]["id"], "last": page[-1]["id"]}
    texts = {row["id"]: row["steps"] for row in ask("sizes_of_steps", **ends)}
    expected: dict[str, Pair] = {}
    for row in page:
        pairs = list(map(Pair, row["path"], row["path"][1:]))
        expected |= {f"{row['id']}/{number}": pair for number, pair in enumerate(pairs, 1)}
        if texts.get(row["id"]) != len(pairs):
            actual = str(texts.get(row["id"], "nowhere"))
            yield GraphFinding("example", *pairs[0], row["id"], f"{len(pairs)} steps", actual)
    for row in ask("places_of_transitions", **ends):
        actual_pair, pair = Pair(row["source"], row["target"]), expected.get(row["id"])
        if pair != actual_pair:
            right = pair.id if pair else "nowhere"
            yield GraphFinding("edge", *actual_pair, row["id"], right, actual_pair.id)


def _wrong_sums(ask: Query, truth: Share) -> Iterator[GraphFinding]:
    """NEXT rows that are not the sum of all trajectories."""
    stored = {}
    for row in ask("transitions"):
        node = row["statistics"]
        origin = RowKey(node["device"], node.get("learner"))
        stored[Pair(row["source"], row["target"]), origin] = node
    for key in total([truth, dict.fromkeys(stored, RowCounts())]):
        yield from shares.compare(key[0], f"on {key[1]}", truth.get(key), stored.get(key))


def _wrong_edges(ask: Query, steps: Mapping[Pair, int]) -> Iterator[GraphFinding]:
    bound = read_context(ask).bound
    counted = ask("count_edges")
    edge_ids = {row["id"] for row in counted}
    for row in counted:
        pair = Pair(*row["id"].split(" "))
        if row["kept"] != row["transitions"]:
            yield GraphFinding("edge", *pair, "kept", str(row["transitions"]), str(row["kept"]))
        elif row["transitions"] > limit(bound):
            yield GraphFinding("edge", *pair, "bound", f"at most {bound}", str(row["transitions"]))
    for pair in sorted(steps):
        if pair.id not in edge_ids:
            yield GraphFinding("edge", *pair, "kept", str(steps[pair]), "no Edge")


def _wrong_failures(ask: Query, expected: Mapping[str, str]) -> Iterator[GraphFinding]:
    stored = {row["id"]: row["pair"] for row in ask("places_of_failures")}
    for key in sorted({*expected, *stored}):
        right = expected.get(key, "nowhere")
        actual = stored.get(key, "nowhere")
        if right != actual:
            pair = Pair(*(right if key in expected else actual).split(" "))
            yield GraphFinding("failure", *pair, key, right, actual)
