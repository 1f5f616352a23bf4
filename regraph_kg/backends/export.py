"""Reads trajectories back, page by page in the order of their ids, whatever their number.

A trajectory that is shown without its (:Steps), while a writer's commit is applied, is read again.
"""

from collections.abc import Iterator
from functools import partial

from regraph_kg.backends import evidence
from regraph_kg.backends.bolt import Bolt, GraphRow, Query
from regraph_kg.errors import StoreError
from regraph_kg.models.trajectory import Trajectory

PAGE = 500
"""Trajectories read at a time."""
READINGS = 20
"""Tries to read a page that writers keep changing."""


def export(bolt: Bolt) -> Iterator[Trajectory]:
    """Every trajectory; those merged meanwhile may or may not be among them."""
    last = ""
    while page := bolt.read(partial(_page, after=last)):
        yield from page
        last = page[-1].id


def _page(ask: Query, after: str) -> list[Trajectory]:
    torn = ""
    for _ in range(READINGS):
        rows = ask("page_of_trajectories", after=after, limit=PAGE)
        torn = next((row["trajectory"]["id"] for row in rows if not row["steps"]), "")
        if not torn:
            return _trajectories(ask, rows) if rows else []
    raise StoreError(
        f"graph store: the steps of trajectory {torn[:12]} are missing; unless somebody writes it"
        " all the time, run regraph graph check"
    )


def _trajectories(ask: Query, rows: list[GraphRow]) -> list[Trajectory]:
    ends = {"first": rows[0]["trajectory"]["id"], "last": rows[-1]["trajectory"]["id"]}
    failed = ask("failures_of_trajectories", **ends)
    codes = {row["id"]: row["code"] for row in failed if row["code"] is not None}
    return [evidence.trajectory(row["trajectory"], row["steps"], codes) for row in rows]
