"""GraphStore: a technique graph in Neo4j, or in the embedded store.

The docstrings are the contract; `tests/contract` runs the same tests against every store. Every
method raises `StoreError` when the store is unreachable, foreign, of another version than ours, or
refuses us; nothing is half-written then.

A search leaves out its own problem: what that problem's trajectories contribute is summed when it
asks, and subtracted from NEXT. Not covered: on Neo4j a reader may meet a commit while it is
applied, so that counts may for an instant be one trajectory off; they are never negative.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from regraph_kg.backends import vectors, write
from regraph_kg.backends.bolt import Bolt, GraphRow, Query
from regraph_kg.backends.evidence import Pair
from regraph_kg.backends.statistics import (
    BY_KIND,
    COUNTS,
    Counts,
    RowKey,
    precedence,
    read_counts,
    replayed,
    successor,
)
from regraph_kg.backends.transforms import (
    bring_transforms,
    read_replays,
    read_transforms,
    write_transforms,
)
from regraph_kg.errors import StoreError
from regraph_kg.models import graph
from regraph_kg.models.graph_report import GraphReport, Steps, TechniqueReport
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique, start_id
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.models.transform import StoredTransform

PRODUCT = "regraph-kg"
MOST_ROWS = 1_000_000  # largest LIMIT sent: the embedded store allocates for it at once
PAGE = 500  # trajectories read at a time
_TECHNIQUE = {"id", "name", "target"}
"""Without these a technique is being made or deleted: Neo4j shows it in part."""

_ByPair = dict[Pair, dict[RowKey, Counts]]


class GraphStore:
    """A technique graph. One client, one thread; open one per process."""

    def __init__(self, bolt: Bolt) -> None:
        """Use `bolt`, and close it with `close`."""
        self._bolt = bolt
        self.close = bolt.close

    def apply_schema(self) -> None:
        """Make an empty database a graph of our version; idempotent.

        Raises `StoreError` for a graph of another version, and for a database that is not ours.
        """
        # A database is ours when it carries our stamp, (:Meta), which the last statement of
        # cypher/schema.cypher writes. Each may run again, after a kill or beside another process.
        (row,) = self._bolt.rows("read_stamp")
        place = self._bolt.place
        if row["empty"]:
            self._bolt.define_all("schema")
        elif row["products"] != [PRODUCT]:
            raise StoreError(
                f"{place}: holds another product's data;"
                " name an empty database (REGRAPH_STORE_DATABASE) or server"
            )
        elif row["schema_version"] != graph.SCHEMA_VERSION:
            raise StoreError(
                f"{place}: graph has schema {row['schema_version']}, this program needs"
                f" {graph.SCHEMA_VERSION}:"
                " export it with the program that made it (regraph graph export), and ingest that"
                " into an empty database"
            )

    def add_techniques(self, techniques: Sequence[Technique]) -> int:
        """Add those whose id is unknown, extend the aliases of those known; count the new ones."""

        def add(ask: Query) -> int:
            added = write.create_techniques(ask, techniques)
            write.extend_techniques(ask, techniques)
            return added

        return self._bolt.write(add)

    def add_transforms(self, transforms: Sequence[StoredTransform]) -> None:
        """Write transforms; a known one's text, replays and state are written anew."""
        self._bolt.write(partial(write_transforms, transforms=transforms))

    def bring_transforms(self, drafts: Sequence[StoredTransform]) -> Mapping[str, str]:
        """Add a file's transforms that are new; why others are refused, by id.

        One of an unknown technique is, and other text under a known name; what is known stays.
        """
        return self._bolt.write(partial(bring_transforms, drafts=drafts)) if drafts else {}

    def mark_facts(self) -> None:
        """Name at each example the transforms that reproduce it, after new ones came."""
        self._bolt.write(lambda ask: ask("mark_applied"))

    def transforms(self, target: Target | None = None) -> tuple[StoredTransform, ...]:
        """All transforms, drafts too, by id."""
        every = self._bolt.read(read_transforms)
        return tuple(one for one in every if target is None or one.id.startswith(f"{target}/"))

    def merge(self, plans: Sequence[graph.MergePlan]) -> graph.MergeCounts:
        """Merge trajectories in one transaction: each wholly, at most once, whoever else writes.

        A known trajectory adds only measurements and failures whose key is new.
        `MergeCounts.conflicts` refuses a `ref` of other content; the rest of the batch goes on.
        A technique that neither the store nor the plans know fails the whole batch.
        """
        return self._bolt.write(partial(write.merge, plans=plans)) if plans else graph.MergeCounts()

    def techniques(self, target: Target | None = None) -> tuple[Technique, ...]:
        """All techniques but the initial states, ordered by id."""
        rows = self._bolt.rows("techniques")
        every = (Technique.model_validate(row["technique"]) for row in rows)
        return tuple(
            technique
            for technique in every
            if target in (None, technique.target) and technique.id != start_id(technique.target)
        )

    def neighbourhood(
        self,
        technique: str,
        *,
        device: str,
        kind: str = "",
        model: str = "",
        limit: int = 32,
        exclude_problem: str | None = None,
    ) -> graph.Neighbourhood:
        """Successors of `technique` seen in an example; codes of `kind` have figures of their own.

        So have the steps of `model`. Those with examples of claims alone are apart. No model's
        learned tries outweigh the rest (`Successor`). `exclude_problem` leaves out what that
        problem's trajectories and replays contribute.
        Beside writers on Neo4j, a count may for an instant be one trajectory off.
        """
        own = f"{technique} ", exclude_problem
        rows, less = self._bolt.read(partial(_next, "neighbourhood", *own, technique=technique))
        # Neo4j may show a technique that another transaction makes or deletes, in part.
        rows = [row for row in rows if row["technique"].keys() >= _TECHNIQUE]
        nodes = {row["technique"]["id"]: row["technique"] for row in rows}
        pairs = ((Pair(technique, row["technique"]["id"]), row["statistics"]) for row in rows)
        known = _without(pairs, less)
        ranked = sorted((precedence(counts), pair.target) for pair, counts in known.items())
        replays = self._replays(exclude_problem)
        found: tuple[list[graph.Successor], list[graph.Successor]] = [], []
        for (claimed, given, learned), to in ranked:
            if given or learned:
                node, rows_of = Technique.model_validate(nodes[to]), known[Pair(technique, to)]
                asked = device, kind, model, replays.get(to)
                found[claimed].append(successor(node, rows_of, *asked))
        return graph.Neighbourhood(technique, *(tuple(half[:limit]) for half in found))

    def pooled(
        self,
        target: Target,
        *,
        device: str,
        kind: str = "",
        model: str = "",
        exclude_problem: str | None = None,
    ) -> tuple[graph.Successor, ...]:
        """Every technique of `target` but the start, after any other technique; by id.

        The figures of all neighbourhoods, added up. The cost grows with techniques and pairs.
        """
        known = self._from_all(f"{target}/", exclude_problem)
        replays = self._replays(exclude_problem)
        start = start_id(target)
        sums: defaultdict[str, dict[RowKey, Counts]] = defaultdict(dict)
        most: dict[str, tuple[int, str]] = {}
        # Of sources with as many examples the start counts: it is where a search begins.
        for pair, by_key in sorted(known.items(), key=lambda row: (row[0].source != start, row[0])):
            none_but_claims, given, learned = precedence(by_key)
            if none_but_claims:
                continue
            if -given - learned > most.get(pair.target, (0, ""))[0]:
                most[pair.target] = (-given - learned, pair.source)
            for key, counts in by_key.items():
                sums[pair.target].setdefault(key, Counts()).update(counts)
        return tuple(
            replace(
                successor(
                    technique, sums[technique.id], device, kind, model, replays.get(technique.id)
                ),
                after=most.get(technique.id, (0, ""))[1],
            )
            for technique in self.techniques(target)
        )

    def _replays(self, exclude_problem: str | None) -> dict[str, Counts]:
        """What the replays of accepted transforms count, by technique."""
        found = self._bolt.read(read_replays).items()
        return {
            technique: replayed(technique, (one for one in of if one.problem != exclude_problem))
            for technique, of in found
        }

    def _from_all(self, source: str, exclude_problem: str | None) -> _ByPair:
        """NEXT rows by pair, of the techniques whose ids begin with `source`."""
        own = source, exclude_problem
        rows, less = self._bolt.read(partial(_next, "transitions", *own, prefix=source))
        return _without(((Pair.of(row), row["statistics"]) for row in rows), less)

    def examples(
        self,
        source: str,
        target: str,
        *,
        device: str | None = None,
        limit: int = 3,
        near: graph.Likeness | None = None,
    ) -> tuple[graph.Example, ...]:
        """Examples of one transition, best first.

        Order: similarity to `near` if given (exact; those without a vector last), verified on
        `device`, verified anywhere, given before learned, effect (there, else the latest), id.
        `BadInput` for a graph whose vectors another version made.
        """
        pair = {"source": source, "target": target}
        asked = {**pair, "device": device or "", "limit": min(limit, MOST_ROWS)}
        return self._bolt.read(partial(vectors.examples, asked=asked, near=near))

    def nearest(
        self, near: graph.Likeness, *, k: int, target: Target | None = None
    ) -> tuple[graph.Example, ...]:
        """The `k` examples most like `near`, whatever their transition.

        The index may miss a few of many (docs/embeddings.md). `BadInput` for a graph without
        vectors of ours.
        """
        found = partial(vectors.nearest, near=near, target=target, limit=min(k, MOST_ROWS))
        return self._bolt.read(found)

    def embed(self, *, change: bool = False) -> Iterator[tuple[int, int]]:
        """Give vectors to every example that has none, and index them; yields done and total.

        New examples have none before this call. An unfinished call is made again. `BadInput` for a
        graph whose vectors another version made, unless `change`: all are made anew then.
        """
        return vectors.embed_examples(self._bolt, change=change)

    def stats(self) -> graph.GraphStats:
        rows = self._bolt.rows("count_trajectories")
        by_target: dict[Target, int] = {row["target"]: row["trajectories"] for row in rows}
        rows_of_pairs = self._from_all("", None).values()
        examples = [sum(counts["examples"] for counts in of.values()) for of in rows_of_pairs]
        return graph.GraphStats(
            product=PRODUCT,
            schema_version=graph.SCHEMA_VERSION,
            techniques=len(self.techniques()),
            transitions=sum(examples),
            pairs=sum(map(bool, examples)),
            trajectories=sum(by_target.values()),
            targets=by_target,
        )

    def report(self) -> GraphReport:
        """What transforms make of the graph's steps; the largest worth of stories first."""
        found: defaultdict[str, dict[str, Steps]] = defaultdict(dict)
        for row in self._bolt.rows("facts"):
            steps = Steps(number=row["steps"], gains=tuple(one for one in row["effects"] if one))
            found[row["technique"]]["facts" if row["is_fact"] else "stories"] = steps
        every = (TechniqueReport(technique=name, **of) for name, of in found.items())
        ranked = sorted(every, key=lambda one: (-one.stories.worth, one.technique))
        return GraphReport(
            totals=self.stats(), techniques=tuple(ranked), transforms=self.transforms()
        )

    def export(self) -> Iterator[Trajectory]:
        """Every trajectory with its resolved technique ids and measurements, ordered by id."""
        return (stored.trajectory for stored in self.stored())

    def stored(self) -> Iterator[graph.StoredTrajectory]:
        """The same, and how each step's technique was found."""
        last = ""
        # A transaction for each page: a whole graph does not fit in memory.
        while page := self._bolt.read(partial(write.page_of_trajectories, after=last, limit=PAGE)):
            yield from page
            last = page[-1].trajectory.id


def _next(
    statement: str, source: str, problem: str | None, ask: Query, **asked: str
) -> tuple[list[GraphRow], list[GraphRow]]:
    """Rows of NEXT, and what a problem's trajectories contribute to those from `source`.

    NEXT is read first: a trajectory that comes between the two reads is subtracted too much,
    never left in.
    """
    rows = ask(statement, **asked)
    return rows, ask("own_counts", problem=problem, source=source) if problem else []


def _without(rows: Iterable[tuple[Pair, GraphRow]], own: Iterable[GraphRow]) -> _ByPair:
    """NEXT rows by pair, less what those of `own` count."""
    known: _ByPair = {}
    for pair, properties in rows:
        if "device" in properties:  # else it is being made
            known.setdefault(pair, {})[RowKey.of(properties)] = read_counts(properties)
    for row in own:
        # graphs of before kinds have no last part
        ends, device, kind, learner = f"{row['counted']}\t\t".split("\t")[:4]
        rows_of_pair = known.get(Pair(*ends.split(" ")), {})
        counts = rows_of_pair.get(RowKey(device, learner or row["learner"]), Counts())
        counts.subtract({name: row[name] for name in COUNTS})
        counts.subtract({f"{name}_{kind}": row[name] for name in BY_KIND if kind})
        for name, count in counts.items():
            counts[name] = count if name.startswith("sum_log2_effect") else max(count, 0)
    return known
