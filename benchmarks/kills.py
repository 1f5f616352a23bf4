"""Writers and servers killed in the middle of ingests, 50 times: what is lost, what is doubled.

`python benchmarks/run.py kills`; prints one JSON object. In each round three processes ingest
overlapping files, until one of them, or the server, gets SIGKILL at a random moment; then all files
are ingested again (tests/ingest/kills.py). Lost: trajectories that had been reported as done and
were gone. Wrong: rounds after which the graph was not that of an ingest which nobody disturbed, or
`check` found something.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests import install_neo4j
from tests.ingest.kills import Round, rounds

SEED = 6
VICTIMS = {"writer": 13, "server": 12}
"""Rounds of a store."""


def rows(store: str, name: str) -> Iterator[dict[str, object]]:
    """A row for each kind of victim."""
    with tempfile.TemporaryDirectory() as folder:
        played: list[Round] = []
        writers, servers = VICTIMS["writer"], VICTIMS["server"]
        for one in rounds(store, Path(folder), seed=SEED, writers=writers, servers=servers):
            played.append(one)
            print(f"kills: {name}, {len(played)}: {one}", file=sys.stderr, flush=True)
    for victim in VICTIMS:
        those = [one for one in played if one.victim == victim]
        yield {
            "store": name,
            "victim": victim,
            "rounds": len(those),
            "cut_short": sum(one.held < one.of for one in those),
            "lost": sum(one.lost for one in those),
            "wrong": sum(not one.equal or one.findings > 0 for one in those),
            "longest_down_s": max(one.seconds_down for one in those),
        }


def main() -> None:
    played = list(rows("embedded", "embedded (ArcadeDB)"))
    missing = install_neo4j.missing()
    if missing is None:
        played += rows("neo4j", f"Neo4j {install_neo4j.LONG_TERM.version}")
    print(json.dumps({"rows": played, "not_measured": [f"Neo4j: {missing}"] if missing else []}))


if __name__ == "__main__":
    main()
