"""Processes around one store: `python -m tests.contract.crowd FOLDER READERS`.

One process for each FOLDER/*.jsonl ingests it into the store (REGRAPH_*), all at the same time,
while READERS more walk the graph. FOLDER/told.json says how often writers tried again, how many
steps the readers went, and what they saw that cannot be; "passing": what was right a moment later.
"""

import json
import logging
import multiprocessing
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path
from typing import Any

from regraph_kg.graph import GraphStore
from regraph_kg.ingest import pipeline
from regraph_kg.ingest.read import read, split
from regraph_kg.models.graph import Successor, TransitionStats
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.stores import open_store
from tests.contract.overlap import DEVICES, START, VOCABULARY
from tests.ingest.trajectories import lexical

BATCH = 4
RETRY_SECONDS = 60.0
PAUSE = 0.01
"""Seconds between a reader's steps: it is to look at the writers, not to hold them up."""
AGAIN = 0.05
"""Seconds until a strange row is read again: Neo4j shows a commit while it is still being applied,
some of a relationship's properties before others."""

PROCESSES = multiprocessing.get_context("fork")

Told = dict[str, Any]


class Retries(logging.Handler):
    """Counts the driver's words about transactions that it tries again."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += "will be retried" in record.getMessage()


def write(settings: Settings, path: Path, together: Barrier) -> Told:
    """Ingest a file in small batches."""
    retries = Retries()
    with closing(open_store(settings, retry_seconds=RETRY_SECONDS)) as store:
        log = logging.getLogger("neo4j.session")
        log.setLevel(logging.WARNING)
        log.propagate = False
        log.addHandler(retries)
        cascade = lexical(pipeline.open_vocabulary(store, VOCABULARY))
        together.wait()
        with path.open("rb") as file:
            for batch in pipeline.ingest(read(split(file)), store, cascade, batch_lines=BATCH):
                assert not batch.rejected, batch.rejected
    return {"retries": retries.count}


def walk(settings: Settings, seed: int, together: Barrier, ending: Event) -> Told:
    """Read until told to end."""
    rng, steps, least = random.Random(seed), 0, Counter[tuple[str, str]]()
    strange: list[str] = []
    passing: list[str] = []
    with closing(open_store(settings)) as store:
        together.wait()
        at = START
        while not ending.is_set():
            first = impossible(store, at, least)
            if first:
                time.sleep(AGAIN)
                again = impossible(store, at, least)
                strange += [what for name, what in first.items() if name in again]
                passing += first.values()
            near = store.neighbourhood(at, device=rng.choice(DEVICES)).successors
            at = rng.choice(near).technique.id if near and rng.random() < 0.8 else START
            steps += 1
            time.sleep(PAUSE)
    return {"steps": steps, "strange": strange[:20], "passing": passing[:20]}


def impossible(store: GraphStore, source: str, least: Counter[tuple[str, str]]) -> dict[str, str]:
    """What cannot be, by what it is about: around a technique, and in all statistics."""
    found = {}
    for device in DEVICES:
        for successor in store.neighbourhood(source, device=device).successors:
            for what in impossible_successor(store, source, successor, least):
                found[f"{source} {successor.technique.id}"] = what
    for row in store.transitions():
        for what in impossible_row(row):
            found[f"{row.source} {row.target} {row.device}"] = f"{what}: {row}"
    return found


def impossible_successor(
    store: GraphStore, source: str, one: Successor, least: Counter[tuple[str, str]]
) -> Iterator[str]:
    """What is wrong with a successor; `least` is how many examples its pair had before."""
    pair = (source, one.technique.id)
    if one.examples < max(1, least[pair]):
        yield f"{pair}: {one.examples} examples, {least[pair]} before"
    least[pair] = max(one.examples, least[pair])
    if not 0 <= one.verified <= one.tried:
        yield f"{pair}: {one.verified} of {one.tried} verified"
    if (one.best_effect is None) != (one.verified == 0):
        yield f"{pair}: best effect {one.best_effect} of {one.verified}"
    examples = store.examples(*pair, limit=2)
    if not examples:
        yield f"{pair}: {one.examples} examples, none to be had"
    for example in examples:
        if not (example.before and example.after and example.id.startswith(example.trajectory)):
            yield f"{pair}: half an example {example.id}"
        if example.outcome is None or (example.outcome == "passed" and not example.verified):
            yield f"{pair}: {example.outcome} and verified {example.verified}"


def impossible_row(row: TransitionStats) -> Iterator[str]:
    """What is wrong with a row of statistics."""
    if row.tried != row.verified + sum(row.failed.values()):
        yield "tried is not verified and failed"
    if not 0 <= row.verified_first <= row.verified or row.examples < 0:
        yield "counts out of order"


def tell(folder: Path, name: str, work: Callable[..., Told], *arguments: object) -> None:
    """Run `work` in this process and leave its report in a file."""
    try:
        told = work(*arguments)
    except Exception:  # noqa: BLE001 - the test shows it
        told = {"error": traceback.format_exc()}
    (folder / f"{name}.told").write_text(json.dumps(told))


def main(folder: Path, readers: int) -> None:
    settings, ending = read_settings(), PROCESSES.Event()
    files = sorted(folder.glob("*.jsonl"))
    together = PROCESSES.Barrier(len(files) + readers, timeout=60)
    writing = [
        PROCESSES.Process(target=tell, args=(folder, path.stem, write, settings, path, together))
        for path in files
    ]
    walking = [
        PROCESSES.Process(
            target=tell, args=(folder, f"reader {seed}", walk, settings, seed, together, ending)
        )
        for seed in range(readers)
    ]
    for process in (*writing, *walking):
        process.start()
    for process in writing:
        process.join()
    ending.set()
    for process in walking:
        process.join()
    told = {path.stem: json.loads(path.read_text()) for path in folder.glob("*.told")}
    (folder / "told.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
