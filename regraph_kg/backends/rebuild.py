"""Writes a graph anew from its own trajectories; brings over a graph of an older version.

    mark      (:Meta) says that it is being rebuilt: every other command refuses from here on
    strip     what follows from trajectories: TRANSITION, NEXT, and nodes of older versions
    replace   trajectories, some in a transaction: deleted, and merged with today's names
    finish    techniques that nobody uses any more go; the stamp has our version, and no mark

Each transaction replaces its trajectories wholly or not at all, so that a kill loses none; the
same command, run again, begins with `strip` and ends it. Vectors go with the TRANSITIONs.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from regraph_kg.backends import read, write
from regraph_kg.backends.bolt import Bolt, Query
from regraph_kg.graph import SCHEMA_VERSION, Replan
from regraph_kg.models.graph import MergePlan
from regraph_kg.models.technique import Technique

AT_ONCE = 200
"""Trajectories of one transaction, as in an ingest."""
STRIPPED = 5_000
"""Relationships or nodes of one transaction."""


def rebuild(
    bolt: Bolt, techniques: Sequence[Technique], replan: Replan
) -> Iterator[tuple[int, int]]:
    """Rebuild the graph; `techniques` are written as they are. Yields trajectories done, and all.

    `replan` may raise, which leaves the mark: the graph is whole again after another call.
    """
    total = sum(row["trajectories"] for row in bolt.rows("count_trajectories"))
    bolt.write(lambda ask: ask("set_meta", state={"rebuilding": True}))
    for name in ("strip_relationships", "strip_nodes"):
        while bolt.write(partial(_strip, name=name)):
            pass
    known = {t.id: t.model_dump(exclude={"id"}) for t in techniques}
    bolt.write(lambda ask: write.write_techniques(ask, known))
    after, done = "", 0
    while page := bolt.read(partial(read.page_of_trajectories, after=after, limit=AT_ONCE)):
        plans = replan(page)
        ids = [stored.trajectory.id for stored in page]
        bolt.write(partial(_replace, ids=ids, plans=plans))
        after, done = ids[-1], done + len(page)
        yield done, total
    bolt.write(_finish)


def _strip(ask: Query, name: str) -> int:
    (row,) = ask(name, limit=STRIPPED)
    return int(row["deleted"])


def _replace(ask: Query, ids: Sequence[str], plans: Sequence[MergePlan]) -> None:
    # Failures keep their ids whatever they are called: they are not deleted, but placed anew.
    ask("delete_trajectories", ids=ids)
    write.merge_rebuilt(ask, plans)


def _finish(ask: Query) -> None:
    write.delete_idle_techniques(ask)
    dropped = dict.fromkeys(("rebuilding", "bound", "embedding_slot"))
    ask("set_meta", state={"schema_version": SCHEMA_VERSION, **dropped})
