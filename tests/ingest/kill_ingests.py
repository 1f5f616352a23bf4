"""Ingests that are killed: `python -m tests.ingest.kill_ingests FILE FOLDER SEED POINTS`.

FOLDER/whole.json is what the store (REGRAPH_*) holds after an ingest of FILE that nobody disturbs.
For each of POINTS a process ingests FILE into an empty store, gets SIGKILL some moment after it has
reported some number of batches, and the ingest is run again: FOLDER/<point>.json is what the store
holds then, FOLDER/<point>.killed says how many trajectories it held in between, of how many that
were reported.
"""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from regraph_kg import wiring
from regraph_kg.graph import GraphStore
from regraph_kg.ingest import pipeline
from regraph_kg.ingest.read import read, split
from regraph_kg.ingest.relabel import LexicalLabeller
from regraph_kg.settings import Settings, read_settings
from tests.ingest.trajectories import VOCABULARY
from tests.stores import wipe

BATCH = 2
LONGEST_MOMENT = 0.03
"""Seconds: some kills hit between two batches, others in the middle of one."""


def contents(store: GraphStore) -> dict[str, Any]:
    """All that a store holds, but for the hour at which it was told."""
    techniques = [
        technique.model_dump(exclude={"created"}) | {"aliases": sorted(technique.aliases)}
        for technique in store.techniques()
    ]
    return {
        "export": [trajectory.model_dump(mode="json") for trajectory in store.export()],
        "transitions": [asdict(row) for row in store.transitions()],
        "stats": asdict(store.stats()),
        "techniques": techniques,
    }


def ingest(store: GraphStore, path: Path) -> Iterator[pipeline.Batch]:
    """Ingest a file in small batches."""
    vocabulary = pipeline.open_vocabulary(store, VOCABULARY)
    labeller = LexicalLabeller(VOCABULARY)
    with path.open("rb") as file:
        lines = read(split(file))
        yield from pipeline.ingest(lines, store, vocabulary, labeller, batch_lines=BATCH)


def killed(settings: Settings, path: Path, batches: int, moment: float) -> None:
    """Ingest in a process that dies `moment` seconds after it has reported `batches`."""
    reports, reporting = os.pipe()
    pid = os.fork()
    if pid == 0:
        for _ in ingest(wiring.open_store(settings), path):
            os.write(reporting, b".")
        time.sleep(60)  # the kill comes, late as it may be
        os._exit(0)
    for _ in range(batches):
        os.read(reports, 1)
    time.sleep(moment)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(reports)
    os.close(reporting)


def main(path: Path, folder: Path, seed: int, points: int) -> None:
    settings, chance = read_settings(), random.Random(seed)
    with closing(wiring.open_store(settings)) as store:
        whole = len(list(ingest(store, path)))
        (folder / "whole.json").write_text(json.dumps(contents(store)))
    for point in range(points):
        wipe(settings)
        reported = chance.randrange(whole)
        killed(settings, path, reported, chance.uniform(0, LONGEST_MOMENT))
        with closing(wiring.open_store(settings)) as store:
            held = store.stats().trajectories
            list(ingest(store, path))
            (folder / f"{point}.killed").write_text(f"{held} {reported * BATCH}")
            (folder / f"{point}.json").write_text(json.dumps(contents(store)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
