"""Migrations: numbered statements of cypher/migrations/, each applied once, in order.

A database is ours when it carries our stamp, (:Meta), whose version says which migrations are
through. Every statement may run again, and what is derived is rebuilt before the stamp: a migration
that was killed, or that two processes run at once, is simply run again. Constraints and data are
never in one transaction: Neo4j forbids it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from regraph_kg.backends import edges, embeddings, queries
from regraph_kg.backends.bolt import Bolt, Query
from regraph_kg.backends.evidence import Evidence
from regraph_kg.backends.merge import read_context
from regraph_kg.backends.recount import recount, trajectories
from regraph_kg.backends.statistics import Pair
from regraph_kg.errors import StoreError
from regraph_kg.graph import SCHEMA_VERSION
from regraph_kg.models.migration import Migration, Progress

PRODUCT = "regraph-kg"
REBUILT = 4
"""The newest version that makes what follows from trajectories anew; older graphs pass it, too."""
TRAJECTORIES_AT_ONCE = 200
"""Whose examples are told their measurements in one transaction."""
FORGOTTEN = 5
"""The version that embeds something else: vectors are cleared, and come with the next ingest."""
PAIRS_AT_ONCE = 50
"""Pairs rebuilt in one transaction."""


def known() -> tuple[Migration, ...]:
    """Every migration of this program, oldest first."""
    return tuple(
        Migration(number, queries.title(name), name)
        for number, name in enumerate(queries.migrations(), 1)
    )


def prepare(bolt: Bolt, *, restoring: bool = False) -> None:
    """Make an empty database a graph; leave one of our version alone.

    Raises `StoreError` for an older one, a newer one, one that is not ours, and one that a restore
    has not finished, unless `restoring` does that.
    """
    stamp = read_stamp(bolt)
    if stamp.restoring is not None and not restoring:
        raise StoreError(
            f"{bolt.place}: is being restored from a backup; if that was interrupted, run the same"
            " regraph graph restore again"
        )
    if stamp.version == SCHEMA_VERSION:
        return
    if not stamp.bare:
        raise StoreError(
            f"{bolt.place}: graph has schema {stamp.version}, this program needs {SCHEMA_VERSION}:"
            " run regraph graph update"
        )
    for _ in Migrator(bolt).run():
        pass


class Migrator:
    """Carries a graph to this program's version."""

    def __init__(self, bolt: Bolt) -> None:
        """Use `bolt`, and close it with `close`."""
        self._bolt = bolt

    def version(self) -> int:
        """The graph's version; 0 = empty database. Raises `StoreError` if newer or not ours."""
        return read_stamp(self._bolt).version

    def pending(self) -> tuple[Migration, ...]:
        """What `run` will do."""
        version = self.version()
        return tuple(one for one in known() if one.version > version)

    def run(self) -> Iterator[Progress]:
        """Apply what is pending; yields after each statement and each batch of rebuilt pairs."""
        for migration in self.pending():
            total = self._bolt.count(migration.name)
            for number in range(total):
                self._bolt.define(migration.name, number)
                yield Progress(migration, "statements", number + 1, total)
            if migration.version == REBUILT:
                for done, all_ in _remeasure(self._bolt):
                    yield Progress(migration, "trajectories", done, all_)
                for done, all_ in _rebuild(self._bolt):
                    yield Progress(migration, "pairs rebuilt", done, all_)
            if migration.version == FORGOTTEN:
                for one in embeddings.forget(self._bolt):
                    yield Progress(migration, "embeddings cleared", one.done, one.total)
            self._bolt.write(partial(_stamp, version=migration.version))

    def close(self) -> None:
        """Release the connection; idempotent."""
        self._bolt.close()


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a database says of itself."""

    version: int
    """The newest migration that is through; 0 = empty."""
    bare: bool
    """There is nothing to lose."""
    restoring: str | None = None
    """Digest of the backup that is being restored."""


def read_stamp(bolt: Bolt) -> Stamp:
    """What the database says; raises `StoreError` for a newer one and one that is not ours."""
    (row,) = bolt.read(lambda ask: ask("read_stamp"))
    if row["empty"]:
        return Stamp(0, bare=True)
    if row["products"] != [PRODUCT]:
        raise StoreError(
            f"{bolt.place}: holds another product's data;"
            " name an empty database (REGRAPH_STORE_DATABASE) or server"
        )
    if row["schema_version"] > SCHEMA_VERSION:
        raise StoreError(
            f"{bolt.place}: graph has schema {row['schema_version']}, this program"
            f" knows {SCHEMA_VERSION}; upgrade regraph-kg"
        )
    return Stamp(row["schema_version"], row["bare"], row["restoring"])


def _stamp(ask: Query, version: int) -> None:
    ask("stamp_version", product=PRODUCT, version=version)


def _remeasure(bolt: Bolt) -> Iterator[tuple[int, int]]:
    """Tell every example what its measurements say; yields trajectories done and in all."""
    rows = bolt.read(lambda ask: ask("count_trajectories"))
    done, last = 0, ""
    while page := bolt.write(partial(_some_remeasured, after=last)):
        done, last = done + len(page), page[-1]
        yield done, sum(row["trajectories"] for row in rows)


def _some_remeasured(ask: Query, after: str) -> list[str]:
    """Ids of the next trajectories, whose examples know their measurements now."""
    page = ask("page_of_evidence", after=after, limit=TRAJECTORIES_AT_ONCE, through=None)
    examples = [
        edges.remeasured(row["id"], evidence, step)
        for row in page
        for evidence in [Evidence.read(row)]
        for step in range(len(evidence.measurements))
    ]
    if examples:
        edges.update(ask, examples, read_context(ask).bound)
    return [row["id"] for row in page]


def _rebuild(bolt: Bolt) -> Iterator[tuple[int, int]]:
    """Make the derived rows of every pair anew; yields pairs done and pairs in all."""
    pairs = bolt.read(_pairs)
    for first in range(0, len(pairs), PAIRS_AT_ONCE):
        some = pairs[first : first + PAIRS_AT_ONCE]
        bolt.write(partial(recount, pairs=some))
        yield first + len(some), len(pairs)


def _pairs(ask: Query) -> list[Pair]:
    """Every pair that a trajectory went along or failed on, sorted."""
    found: set[Pair] = set()
    for row in trajectories(ask):
        evidence = Evidence.read(row)
        found.update(map(Pair, evidence.path, evidence.path[1:]))
        found.update(
            Pair(evidence.path[failure.after_step], failure.technique)
            for failure in evidence.failures
            if failure.technique is not None
        )
    return sorted(found)
