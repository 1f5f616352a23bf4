"""Deletes everything that came from one origin, as if the graph had never known it.

Each batch of trajectories is one transaction that recounts their pairs; a stopped purge is run
again. Their examples, vectors, failures and share of the statistics go with them; the examples
that they displaced are TRANSITIONs again. Runs of free steps go last. Not covered: aliases that
others' techniques learned from its labels; measurements that the origin added to others'
trajectories; others' failed code that was left out because a pair had enough; arrivals during the
purge, which the next one finds.
"""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import partial

from regraph_kg.backends import edges, shares
from regraph_kg.backends.bolt import OnBolt, Query
from regraph_kg.backends.evidence import Evidence
from regraph_kg.backends.recount import recount
from regraph_kg.backends.schema import prepare
from regraph_kg.models.purge import Provenance, PurgeCounts

AT_ONCE = 500
"""Trajectories of one transaction, which reads all trajectories that share techniques with them."""


class BoltPurge(OnBolt):
    """Purges behind a Bolt connection; `graph.Purge` is the contract."""

    def count(self, origin: Provenance) -> PurgeCounts:
        """See `Purge`."""
        prepare(self._bolt)
        (row,) = self._bolt.rows("purge_count", by=origin.by, value=origin.value)
        return PurgeCounts(**row)

    def unknown(self, origin: Provenance) -> list[str] | None:
        """See `Purge`."""
        names = [row["name"] for row in self._bolt.rows("purge_origins", by=origin.by)]
        if origin.value in names or self._bolt.read(partial(_is_unfinished, origin=origin)):
            return None
        return get_close_matches(origin.value, sorted(names), n=3)

    def run(self, origin: Provenance) -> Iterator[PurgeCounts]:
        """See `Purge`."""
        prepare(self._bolt)
        total = PurgeCounts()
        rows = self._bolt.rows("purge_trajectories", by=origin.by, value=origin.value)
        ids = [row["id"] for row in rows]
        for first in range(0, len(ids), AT_ONCE):
            total += self._bolt.write(partial(_delete, ids=ids[first : first + AT_ONCE]))
            yield total
        self._bolt.write(shares.sweep)
        total += self._bolt.write(partial(_tidy, origin=origin))
        yield total


def _is_unfinished(ask: Query, origin: Provenance) -> bool:
    """Whether an interrupted purge has not tidied up."""
    emptied = origin.by == "problem" and ask("shares_of_problems", problems=[origin.value])
    return bool(emptied)


def _delete(ask: Query, ids: Sequence[str]) -> PurgeCounts:
    """Delete trajectories with all their contributions; skip deleted ones."""
    locked = {
        row["id"]: Evidence.read(row | {"measurements": "[]"})
        for row in ask("hold_trajectories", ids=ids)
        if row["id"] is not None
    }
    steps = [pair for evidence in locked.values() for pair in evidence.pairs]
    failed = [pair for evidence in locked.values() for _, pair in evidence.failed]
    pairs = {*failed, *steps}
    ends = sorted({end for pair in pairs for end in pair})
    edges.hold(ask, pairs)
    ask("lock_techniques", ids=ends)
    ask("purge_delete", ids=sorted(locked))
    recount(ask, pairs)
    return PurgeCounts(
        trajectories=len(locked),
        examples=len(steps),
        failures=len(failed),
        techniques=_drop_unused(ask, ends),
    )


def _drop_unused(ask: Query, techniques: Sequence[str]) -> int:
    """Delete the techniques that only an ingest made, and nothing leads to any more."""
    idle = [row["id"] for row in ask("purge_idle", ids=techniques)]
    ask("delete_techniques", ids=idle)
    return len(idle)


def _tidy(ask: Query, origin: Provenance) -> PurgeCounts:
    """Delete runs of free steps."""
    (runs,) = ask("purge_free_runs", by=origin.by, value=origin.value)
    return PurgeCounts(free_runs=runs["deleted"])
