"""Reads trajectories back, page by page in the order of their ids, whatever their number.

A trajectory that a writer changes between or within the reading statements (a purge, a move to or
from the archive) is read again, so that it is whole. Not covered: a curation in that instant may
leave a failure with the technique that its step had before.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import groupby, takewhile

from regraph_kg.backends import evidence
from regraph_kg.backends.bolt import Bolt, GraphRow, Query
from regraph_kg.errors import StoreError
from regraph_kg.models.backup import TrajectoryLine

PAGE = 500
"""Trajectories read at a time."""
READINGS = 20
"""Tries to read one trajectory that writers keep changing."""


def export(bolt: Bolt) -> Iterator[TrajectoryLine]:
    """Every trajectory; those merged meanwhile may or may not be among them."""
    last = ""
    while page := bolt.read(partial(_page, after=last, limit=PAGE)):
        yield from page
        last = page[-1].trajectory.id


def _page(ask: Query, after: str, limit: int) -> list[TrajectoryLine]:
    """The next trajectories up to the first one that changed meanwhile: it begins a new page."""
    torn = ""
    for _ in range(READINGS):
        nodes = [row["trajectory"] for row in ask("page_of_trajectories", after=after, limit=limit)]
        whole = _whole(ask, nodes) if nodes else []
        if whole or not nodes:
            return whole
        torn, limit = nodes[0]["id"], 1
    raise StoreError(
        f"graph store: steps of trajectory {torn[:12]} are missing, or there twice; unless somebody"
        " writes it all the time, run regraph graph check"
    )


def _whole(ask: Query, nodes: list[GraphRow]) -> list[TrajectoryLine]:
    """The trajectories before the first one with a missing or doubled step."""
    ends = {"first": nodes[0]["id"], "last": nodes[-1]["id"]}
    rows = [row["step"] for row in ask("steps_of_trajectories", **ends)]
    rows.sort(key=lambda row: (row["trajectory"], row["step"]))
    steps = {key: list(group) for key, group in groupby(rows, lambda row: str(row["trajectory"]))}
    failed = {row["id"]: row for row in ask("failures_of_trajectories", **ends)}
    codes = {key: row["code"] for key, row in failed.items() if row["code"] is not None}
    return [
        _exported(node, steps[node["id"]], failed, codes)
        for node in takewhile(lambda node: _all_there(node, steps.get(node["id"], [])), nodes)
    ]


def _all_there(node: GraphRow, steps: list[GraphRow]) -> bool:
    return [step["step"] for step in steps] == list(range(1, len(node["path"])))


def _exported(
    node: GraphRow,
    steps: list[GraphRow],
    failed: Mapping[str, GraphRow],
    codes: Mapping[str, str],
) -> TrajectoryLine:
    trajectory = evidence.trajectory(node, steps, codes)
    keys = [f"{node['id']}/{failure.key}" for failure in trajectory.failures]
    return TrajectoryLine(
        trajectory=trajectory,
        stages=tuple(step["relabel_stage"] for step in steps),
        failed=tuple(failed.get(key, {}).get("created") for key in keys),
    )
