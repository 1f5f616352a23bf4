"""What a bounded edge costs retrieval: the corpus, each trajectory told many times over.

`python benchmarks/run.py bound`; prints one JSON object. Every OpenMP trajectory of the corpus is
ingested with `COPIES` near-duplicates (another comment in the code, a word of the reasoning left
out, times that vary, three devices), once with a bound beyond all of them and once per bound, each
into a fresh embedded store. Then every pair is asked for its best examples on every device, and for
the ones nearest to a reasoning of the corpus.
"""

import json
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from regraph_kg.graph import GraphStore
from regraph_kg.ingest.plan import plan
from regraph_kg.llm.ngrams import HashEmbedder
from regraph_kg.models.graph import MergePlan, Relabelled, Vector
from regraph_kg.models.trajectory import Measurement, Step, Trajectory
from regraph_kg.settings import Settings
from regraph_kg.wiring.names import read_vocabulary
from regraph_kg.wiring.stores import open_store, stop_embedded

CORPUS = Path(__file__).parents[1] / "corpus"
COPIES = 200
BOUNDS = (16, 64, 128)
UNBOUNDED = 1_000_000
DEVICES = ("CPU A", "CPU B", "CPU C")
NEAREST = 5
BATCH = 200
NOISE = 0.2
"""Standard deviation of the logarithm of a copy's times."""


def corpus() -> list[Trajectory]:
    lines = [
        line
        for path in sorted((CORPUS / "trajectories").glob("*.openmp.jsonl"))
        for line in path.read_bytes().splitlines()
    ]
    return [Trajectory.model_validate_json(line) for line in lines]


def copies(originals: list[Trajectory]) -> Iterator[Trajectory]:
    rng = random.Random(1)
    for number in range(COPIES):
        for original in originals:
            device = rng.choice(DEVICES)
            steps = tuple(copied(step, number, device, rng) for step in original.steps)
            yield original.model_copy(update={"steps": steps, "failures": (), "ref": None})


def copied(step: Step, number: int, device: str, rng: random.Random) -> Step:
    words = step.reasoning.split(" ")
    del words[rng.randrange(len(words))]
    measurements = tuple(
        noisy(measurement, device, number, rng) for measurement in step.measurements[-1:]
    )
    return step.model_copy(
        update={
            "code": f"{step.code}\n// variant {number}\n",
            "reasoning": " ".join(words),
            "measurements": measurements,
        }
    )


def noisy(one: Measurement, device: str, number: int, rng: random.Random) -> Measurement:
    seconds = None if one.seconds is None else one.seconds * rng.lognormvariate(0, NOISE)
    return one.model_copy(update={"device": device, "run": f"{number}", "seconds": seconds})


def plans(trajectories: Iterator[Trajectory]) -> Iterator[MergePlan]:
    known = {one.id: one for one in read_vocabulary(Settings(corpus=CORPUS))}
    for trajectory in trajectories:
        labels = [Relabelled(step.label, str(step.technique), "given") for step in trajectory.steps]
        yield plan(trajectory, labels, (), known, "2026-11-21T00:00:00+00:00")


def fill(store: GraphStore, bound: int) -> int:
    """Ingest everything under a bound; how many examples that makes."""
    list(store.set_bound(bound))
    store.add_techniques(read_vocabulary(Settings(corpus=CORPUS)))
    everything = list(plans(copies(corpus())))
    for first in range(0, len(everything), BATCH):
        store.merge(everything[first : first + BATCH])
    embedder = HashEmbedder()
    for _ in store.embed(embedder.space, embedder.embed):
        pass
    return store.stats().transitions


Asked = dict[tuple[str, str, str], list[float]]
"""Source, target, device -> effects of the best examples, best first."""


def best(store: GraphStore) -> Asked:
    rows = [row for row in store.transitions() if row.examples]
    return {
        (row.source, row.target, row.device): [
            example.effect or 0.0
            for example in store.examples(row.source, row.target, device=row.device, limit=3)
        ]
        for row in rows
    }


def nearest(store: GraphStore) -> list[float]:
    """Similarities of the nearest examples to every reasoning of the corpus, on its pair."""
    embedder, found = HashEmbedder(), []
    for one in corpus():
        path = [f"{one.target}/start", *(str(step.technique) for step in one.steps)]
        for step, source, target in zip(one.steps, path, path[1:], strict=False):
            (vector,) = embedder.embed([step.reasoning])
            near = store.examples(
                source, target, near=Vector(embedder.space, vector), limit=NEAREST
            )
            found += [example.similarity or 0.0 for example in near]
    return found


def measured(bound: int) -> tuple[int, Asked, list[float]]:
    print(f"bound: {bound}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(store="embedded", data_dir=Path(folder))
        store = open_store(settings)
        try:
            return fill(store, bound), best(store), nearest(store)
        finally:
            store.close()
            stop_embedded(settings)


def main() -> None:
    examples, everything, closest = measured(UNBOUNDED)
    rows = []
    for bound in BOUNDS:
        _, asked, near = measured(bound)
        assert asked.keys() == everything.keys()
        first = [asked[key][0] >= everything[key][0] for key in asked]
        three = [asked[key] == everything[key] for key in asked]
        rows.append(
            {
                "bound": bound,
                "examples": examples,
                "asked": len(first),
                "best_as_good": sum(first) / len(first),
                "best_three_equal": sum(three) / len(three),
                "similarity": round(statistics.fmean(near), 4),
                "similarity_unbounded": round(statistics.fmean(closest), 4),
            }
        )
    print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main()
