"""Reads trajectories back, page by page in the order of their ids, whatever their number."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from regraph_kg.backends import evidence
from regraph_kg.backends.bolt import Bolt, Query
from regraph_kg.models.graph import RelabelStage
from regraph_kg.models.trajectory import Trajectory

PAGE = 500
"""Trajectories read at a time."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A trajectory, and what a graph knows of it beside."""

    id: str
    trajectory: Trajectory
    stages: tuple[RelabelStage, ...]
    """How each step's technique was found."""
    failed: tuple[str | None, ...]
    """When each failure was merged, where that was noted."""


def export(bolt: Bolt) -> Iterator[Exported]:
    """Every trajectory; what is merged meanwhile may or may not be among them."""
    last = ""
    while found := bolt.read(partial(_page, after=last, limit=PAGE)):
        yield from found
        last = found[-1].id


def _page(ask: Query, after: str, limit: int) -> list[Exported]:
    nodes = [row["trajectory"] for row in ask("page_of_trajectories", after=after, limit=limit)]
    if not nodes:
        return []
    ends = {"first": nodes[0]["id"], "last": nodes[-1]["id"]}
    rows = ask("steps_of_trajectories", **ends)
    rows.sort(key=lambda row: (row["trajectory"], row["step"]))
    steps = {key: list(group) for key, group in groupby(rows, lambda row: str(row["trajectory"]))}
    failed = {row["id"]: row for row in ask("failures_of_trajectories", **ends)}
    codes = {key: row["code"] for key, row in failed.items() if row["code"] is not None}
    return [
        Exported(
            node["id"],
            trajectory := evidence.trajectory(node, steps[node["id"]], codes),
            tuple(step["stage"] for step in steps[node["id"]]),
            tuple(
                failed.get(f"{node['id']}/{one.key}", {}).get("created")
                for one in trajectory.failures
            ),
        )
        for node in nodes
    ]
