"""Embeddings: what hashing costs, what the index misses, how long the nearest examples take.

`python -m benchmarks.embeddings [SIZE...]` prints one JSON object. Each store is fresh and
gets that many examples, with reasonings made from the corpus (two of them joined, a fifth of the
words left out), which are embedded twice: with vectors drawn by lot, where nothing is near to
anything, and hashed. Asked are 60 reasonings of the graph and 60 new ones, for their ten nearest;
recall is the share of the ten by brute force that is found. Not measured: models with a server.
"""

import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import numpy as np

from benchmarks.nearest import texts_of
from benchmarks.servers import Server, embedded, neo4j_server
from regraph_kg.graph import Embed, GraphStore
from regraph_kg.llm.ngrams import HASHED, HashEmbedder
from regraph_kg.models.graph import EmbeddingSpace, MergePlan, Relabelled, Vector
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Step, Trajectory
from regraph_kg.wiring.stores import open_store

T = TypeVar("T")

TRAJECTORIES = Path(__file__).parents[1] / "corpus" / "trajectories"
SIZES = (1_000, 5_000, 20_000)
STEPS, TECHNIQUES, BATCH, ASKED, NEAREST = 10, 24, 50, 60, 10
DRAWN = EmbeddingSpace("drawn by lot", HASHED.dimension)
STORES = {"embedded (ArcadeDB)": embedded, "Neo4j 5.26": neo4j_server}


def reasonings(count: int, seed: int) -> list[str]:
    """Different texts, like those of the corpus."""
    rng = random.Random(seed)
    lines = [
        line for path in sorted(TRAJECTORIES.iterdir()) for line in path.read_text().split("\n")
    ]
    known = [step["reasoning"] for line in lines if line for step in json.loads(line)["steps"]]
    found: dict[str, None] = {}
    while len(found) < count:
        words = f"{rng.choice(known)} {rng.choice(known)}".split()
        found[" ".join(word for word in words if rng.random() < 0.8)] = None
    return list(found)


def plans(texts: Sequence[str]) -> Iterator[MergePlan]:
    """Trajectories whose steps reason so, through techniques drawn by lot."""
    rng = random.Random(3)
    for first in range(0, len(texts), STEPS):
        names = [f"cuda/t-{rng.randrange(TECHNIQUES)}" for _ in texts[first : first + STEPS]]
        steps = tuple(
            Step(label=name, reasoning=why, code=f"// {first} {why}")
            for name, why in zip(names, texts[first:], strict=False)
        )
        trajectory = Trajectory(
            schema=1, target="cuda", problem=f"p{first % 9}", serial=f"// {first}", steps=steps
        )
        labels = tuple(Relabelled(name, name, "given") for name in names)
        new = tuple(Technique(id=name, name=name, target="cuda") for name in sorted(set(names)))
        yield MergePlan(trajectory, labels, new=new)


def drawn(texts: Sequence[str]) -> list[bytes]:
    """A direction for every text, by lot, always the same."""
    return [_unit(np.random.default_rng(list(text.encode()))) for text in texts]


def _unit(lot: np.random.Generator) -> bytes:
    values = lot.normal(size=DRAWN.dimension)
    return (values / np.linalg.norm(values)).astype("<f4").tobytes()


def measure(server: Server, size: int) -> list[dict[str, object]]:
    """One store of one size."""
    texts = reasonings(size, seed=1)
    asked = [*random.Random(4).sample(texts, ASKED), *reasonings(ASKED, seed=2)]
    with closing(open_store(server.settings)) as store:
        list(store.set_bound(size))  # all of them stay in sight
        found = list(plans(texts))
        for first in range(0, len(found), BATCH):
            store.merge(found[first : first + BATCH])
        return [
            figures(store, space, embed, texts, asked)
            for space, embed in ((DRAWN, drawn), (HASHED, HashEmbedder().embed))
        ]


def figures(
    store: GraphStore, space: EmbeddingSpace, embed: Embed, texts: Sequence[str], asked: list[str]
) -> dict[str, object]:
    start = time.perf_counter()
    list(store.reembed(space, embed))
    seconds = time.perf_counter() - start
    examples = store.nearest(Vector(space, embed(asked[:1])[0]), k=len(texts))  # all compared
    told = texts_of(store, examples)
    everything = np.stack([np.frombuffer(one, dtype="<f4") for one in embed(told)])
    hits, times = 0, []
    for packed in embed(asked):
        best = np.argsort(-(everything @ np.frombuffer(packed, dtype="<f4")))[:NEAREST]
        took, near = timed(lambda packed=packed: store.nearest(Vector(space, packed), k=NEAREST))
        hits += len({examples[index].id for index in best} & {one.id for one in near})
        times.append(took)
    pairs = sorted(store.transitions(), key=lambda transition: -transition.examples)[:1]
    (hot,) = pairs
    on_pair = [
        timed(lambda p=p: store.examples(hot.source, hot.target, near=Vector(space, p)))[0]
        for p in embed(asked)
    ]
    return {
        "examples": len(texts),
        "vectors": space.model,
        "embedded and indexed, examples/s": round(len(texts) / seconds),
        "recall@10": round(hits / (NEAREST * len(asked)), 4),
        "nearest of all, p50 ms": ms(times, 50),
        "p99 ms": ms(times, 99),
        f"nearest of {hot.examples} on a pair, p50 ms": ms(on_pair, 50),
    }


def timed(call: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def ms(times: Sequence[float], percent: int) -> float:
    return round(1000 * statistics.quantiles(times, n=100)[percent - 1], 1)


def hashing() -> dict[str, float]:
    """Microseconds of CPU for a text of 300 characters, alone and among others."""
    texts = [(text * 9)[:300] for text in reasonings(500, seed=5)]
    embedder, costs = HashEmbedder(), {}
    for count in (1, 10, 500):
        rounds = []
        for _ in range(200):
            start = time.process_time()
            embedder.embed(texts[:count])
            rounds.append(time.process_time() - start)
        costs[str(count)] = round(1e6 * statistics.median(rounds) / count, 1)
    return costs


def main(sizes: Sequence[int]) -> None:
    """Measure and print."""
    stores: dict[str, list[dict[str, object]]] = {name: [] for name in STORES}
    for name, started in STORES.items():
        for size in sizes:
            with started() as server:
                stores[name] += measure(server, size)
                print(name, *stores[name][-2:], sep="\n", file=sys.stderr, flush=True)
    print(
        json.dumps(
            {"hashing, us of CPU a text of 300 characters, by batch": hashing(), "stores": stores}
        )
    )


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or SIZES)
