"""Derived rows from the truth: Share, NEXT, TRANSITION, Edge and Failure rows, rebuilt or compared.

The truth is the trajectories (path, measurements, failures) with their (:Steps). `recount` rebuilds
pairs inside one transaction; `findings` compares a whole graph, some problems at a time.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from regraph_kg.backends import edges, shares
from regraph_kg.backends.bolt import GraphRow, Query
from regraph_kg.backends.bounded import Selection, limit
from regraph_kg.backends.evidence import Evidence, Pair
from regraph_kg.backends.merge import failure_node, read_context
from regraph_kg.backends.shares import PAGE, ShareKey, Shares
from regraph_kg.backends.statistics import RowCounts, RowKey, Share, differences, share, total
from regraph_kg.backends.written import UNSOUND, is_sound
from regraph_kg.models.graph import GraphFinding

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
    edges.hold(ask, distinct)
    ask("lock_techniques", ids=sorted({end for pair in distinct for end in pair}))
    shares.hold(ask, distinct)
    ask("lock_next", rows=[pair._asdict() for pair in distinct])
    ids = [pair.id for pair in distinct]
    existing = [row["id"] for row in ask("failures_of_pairs", pairs=ids)]
    truth: dict[Pair, Shares] = {pair: {} for pair in distinct}
    bound = read_context(ask).bound
    selections = {pair: Selection(bound) for pair in distinct}
    right: set[str] = set()
    after, sources = "", sorted({pair.source for pair in distinct})
    while page := ask("page_of_evidence", after=after, limit=PAGE, through=sources):
        failures = sorted(_gather(page, truth, selections), key=lambda node: str(node["id"]))
        if failures:
            ask("write_failures", rows=failures)
        right.update(node["id"] for node in failures)
        after = page[-1]["id"]
    for first in range(0, len(distinct), PAIRS):
        some, by_problem = distinct[first : first + PAIRS], Shares()
        for pair in some:
            by_problem |= truth.pop(pair)
        shares.rebuild(ask, some, by_problem)
    ask("delete_failures", ids=sorted(key for key in existing if key not in right))
    edges.reselect(ask, selections)
    ask("finish_edges", ids=ids)


def _gather(
    page: Iterable[GraphRow], truth: Mapping[Pair, Shares], selections: Mapping[Pair, Selection]
) -> Iterator[GraphRow]:
    """Add the trajectories' shares and examples; yield their (:Failure) nodes, without code."""
    for row in page:
        evidence = Evidence.read(row)
        for (pair, origin), tally in share(evidence).items():
            if pair in truth:
                key = ShareKey(pair, origin, evidence.problem)
                truth[pair].setdefault(key, RowCounts()).add(tally)
        for pair, mark in edges.marks(row["id"], evidence):
            if pair in selections:
                selections[pair].add(mark)
        for failure, pair in evidence.failed:
            if pair in truth:
                node = failure_node(row["id"], row["problem"], failure, pair)
                del node["code"]
                yield node


def findings(ask: Query) -> Iterator[GraphFinding]:
    """Derived rows and examples of a graph that contradict its trajectories."""
    steps: Counter[Pair] = Counter()
    failures: dict[str, Pair] = {}
    pairs: dict[Pair, Pair] = {}  # one object for each, whatever the number of its failures
    sums: Share = {}
    transitions = {row["id"]: Pair.of(row) for row in ask("places_of_transitions")}
    for problems in _problems(ask):
        truth: Shares = {}
        for row in shares.evidence_of(ask, problems):
            evidence = Evidence.read(row)
            shares.gather(truth, evidence)
            steps.update(evidence.pairs)
            for failure, pair in evidence.failed:
                failures[f"{row['id']}/{failure.key}"] = pairs.setdefault(pair, pair)
            yield from _misplaced(row, evidence.pairs, transitions)
        sums = total([sums, shares.next_rows(truth)])
        yield from _wrong_shares(ask, problems, truth)
    for key, pair in transitions.items():
        yield GraphFinding("edge", *pair, key, "nowhere", pair.id)
    yield from _wrong_sums(ask, sums)
    yield from _wrong_edges(ask, steps)
    yield from _wrong_failures(ask, failures)


def _problems(ask: Query) -> Iterator[list[str]]:
    """All problems, some at a time, with about `PAGE` trajectories."""
    batch, count = list[str](), 0
    for row in ask("problems"):
        batch.append(row["problem"])
        count += row["trajectories"]
        if count >= PAGE:
            yield batch
            batch, count = [], 0
    yield batch


def _misplaced(
    row: GraphRow, pairs: Sequence[Pair], transitions: dict[str, Pair]
) -> Iterator[GraphFinding]:
    """A trajectory without its texts, and its TRANSITIONs elsewhere; takes these out."""
    if row["texts"] != len(pairs):
        texts = "nowhere" if row["texts"] is None else str(row["texts"])
        yield GraphFinding("example", *pairs[0], row["id"], f"{len(pairs)} steps", texts)
    for number, pair in enumerate(pairs, 1):
        key = f"{row['id']}/{number}"
        actual = transitions.pop(key, pair)
        if actual != pair:
            yield GraphFinding("edge", *actual, key, pair.id, actual.id)


def _wrong_shares(ask: Query, problems: Sequence[str], truth: Shares) -> Iterator[GraphFinding]:
    """Shares of problems that contradict their trajectories."""
    nodes = (row["share"] for row in ask("shares_of_problems", problems=problems))
    stored = {ShareKey.read(node): node for node in nodes}
    for key in sorted({*truth, *stored}, key=lambda key: key.id):
        whose = f"of {key.problem} on {key.origin}"
        yield from _differing(key.pair, whose, truth.get(key), stored.get(key))


def _wrong_sums(ask: Query, truth: Share) -> Iterator[GraphFinding]:
    """NEXT rows that are not the sum of all trajectories."""
    nodes = [(Pair.of(row), row["statistics"]) for row in ask("transitions")]
    stored = {(pair, RowKey.of(node)): node for pair, node in nodes}
    for key in total([truth, dict.fromkeys(stored, RowCounts())]):
        yield from _differing(key[0], f"on {key[1]}", truth.get(key), stored.get(key))


def _differing(
    pair: Pair, whose: str, expected: RowCounts | None, node: Mapping[str, Any] | None
) -> Iterator[GraphFinding]:
    """The properties of a NEXT or a Share that contradict its trajectories."""
    counts = RowCounts() if node is None else shares.read(node)
    wrong = [*differences(expected or RowCounts(), counts)]
    if not wrong and node is not None and not is_sound(node):
        wrong = [UNSOUND]
    for name, right, actual in wrong:
        yield GraphFinding("statistics", *pair, f"{name} {whose}", right, actual)


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


def _wrong_failures(ask: Query, expected: Mapping[str, Pair]) -> Iterator[GraphFinding]:
    stored = {row["id"]: Pair(*row["pair"].split(" ")) for row in ask("places_of_failures")}
    for key in sorted({*expected, *stored}):
        right, actual = expected.get(key), stored.get(key)
        pair = right or actual
        if pair and right != actual:
            place, other = (known.id if known else "nowhere" for known in (right, actual))
            yield GraphFinding("failure", *pair, key, place, other)
