"""A graph of schema version 1 with data, as the first release left it, for a store of any kind.

tests/golden/graph-v1.json holds the nodes and relationships that the program of version 1 made of
four trajectories (one of them unmeasured, three with failures, one measured on two devices, one
with a label that nothing recognized), and what it exported of them then.
"""

import json
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from regraph_kg.settings import Settings
from tests.stores import Run, forget_schema, session

SCHEMA = """
CREATE CONSTRAINT technique_id FOR (t:Technique) REQUIRE t.id IS UNIQUE;
CREATE CONSTRAINT trajectory_id FOR (t:Trajectory) REQUIRE t.id IS UNIQUE;
CREATE CONSTRAINT trajectory_ref FOR (t:Trajectory) REQUIRE t.ref IS UNIQUE;
CREATE CONSTRAINT transition_id FOR ()-[r:TRANSITION]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT next_id FOR ()-[n:NEXT]-() REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT meta_product FOR (m:Meta) REQUIRE m.product IS UNIQUE;
CREATE INDEX trajectory_problem FOR (t:Trajectory) ON (t.problem);
CREATE INDEX transition_trajectory FOR ()-[r:TRANSITION]-() ON (r.trajectory)
"""


@cache
def golden() -> dict[str, Any]:
    """nodes, relationships, and the export and statistics of then."""
    path = Path(__file__).parent / "golden" / "graph-v1.json"
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


def load(settings: Settings) -> None:
    """Make the empty store of `settings` one of version 1, its constraints included."""
    forget_schema(settings)
    with session(settings) as run:
        _drop(run)
        for statement in SCHEMA.split(";"):
            run(statement)
    fill(settings)


def fill(settings: Settings) -> None:
    """Put the data of version 1 into an empty store, whatever its constraints."""
    with session(settings) as run:
        for label, nodes in groupby(golden()["nodes"], lambda node: node["label"]):
            rows = [node["properties"] for node in nodes]
            run(f"UNWIND $rows AS row CREATE (n:{label}) SET n = row", rows=rows)
        for kind, found in groupby(golden()["relationships"], lambda one: one["type"]):
            run(
                "UNWIND $rows AS row"
                " MATCH (s:Technique {id: row.source}), (d:Technique {id: row.target})"
                f" CREATE (s)-[r:{kind}]->(d) SET r = row.properties",
                rows=list(found),
            )


def drop_schema(settings: Settings) -> None:
    """Drop every constraint and index; the next store that opens makes its own."""
    forget_schema(settings)
    with session(settings) as run:
        _drop(run)


def indexed(settings: Settings) -> set[tuple[str, str]]:
    """(label or type, property) of every index on one property."""
    with session(settings) as run:
        rows = run("SHOW INDEXES")
    return {
        (row["labelsOrTypes"][0], row["properties"][0])
        for row in rows
        if row["labelsOrTypes"] and len(row["properties"]) == 1
    }


def _drop(run: Run) -> None:
    for row in run("SHOW CONSTRAINTS"):
        run(f"DROP CONSTRAINT `{row['name']}` IF EXISTS")
    for row in run("SHOW INDEXES"):
        if row["type"] != "LOOKUP" and row["owningConstraint"] is None:
            run(f"DROP INDEX `{row['name']}` IF EXISTS")
