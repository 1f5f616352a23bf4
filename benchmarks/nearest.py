"""Whether the nearest examples are those that were meant: queries with their answers, and codes.

`python benchmarks/run.py nearest [EMBEDDER ...]`; prints one JSON object. The corpus goes into a
fresh embedded store, and each query of `benchmarks/queries/nearest.jsonl` (labelled blind; its
dev half chose what is embedded and how) is asked for the examples of its target. recall@5 counts
what is found of at most five relevant ones; MRR is one over the place of the first. Beside it
stand the built-in embedder on reasonings alone, and BM25 on the same texts.

Then the code before every step looks for examples of other problems, as a search does: relevant
are those of the technique that came next, as far as there are any.
"""

import json
import math
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regraph_kg.backends.vectors import PROPERTIES, text_of
from regraph_kg.graph import GraphStore
from regraph_kg.llm.embedder import Embedder
from regraph_kg.llm.ngrams import HASHED, HashEmbedder
from regraph_kg.models.graph import EmbeddedKind, Example, Vector
from regraph_kg.models.target import Target
from regraph_kg.runs.ingest import grow
from regraph_kg.settings import Settings
from regraph_kg.wiring.open_model import embedder_of
from regraph_kg.wiring.stores import open_store, stop_embedded

CORPUS = Path(__file__).parents[1] / "corpus"
QUERIES = Path(__file__).parent / "queries" / "nearest.jsonl"
FOUND = 5
EVERYTHING = 1000
"""More than the corpus has examples."""
SATURATION, LENGTH = 1.2, 0.75
"""BM25's k1 and b, as they are usually set."""

SECTIONS = {
    "rows": {
        "by": "{by}",
        "half": "{half}",
        "queries": "{queries}",
        "recall@5": "{recall:.3f}",
        "MRR": "{mrr:.3f}",
    },
    "codes": {
        "by": "{by}",
        "codes": "{codes}",
        "nearest text: recall@5": "{text_recall:.3f}",
        "nearest text: MRR": "{text_mrr:.3f}",
        "nearest code: recall@5": "{code_recall:.3f}",
        "nearest code: MRR": "{code_mrr:.3f}",
    },
}
"""Tables of docs/results.md."""

Rank = Callable[[str, Target], list[str]]
"""A query and a target -> names of steps, nearest first."""


@dataclass(frozen=True, slots=True)
class Labelled:
    query: str
    target: Target
    relevant: frozenset[str]
    split: str


def labelled() -> list[Labelled]:
    lines = QUERIES.read_text(encoding="utf-8").splitlines()
    return [
        Labelled(one["query"], one["target"], frozenset(one["relevant"]), one["split"])
        for one in map(json.loads, lines)
    ]


def scores(ranked: Sequence[str], relevant: frozenset[str]) -> tuple[float, float]:
    """Recall among the first `FOUND`, and one over the place of the first that is relevant."""
    hits = len(relevant & set(ranked[:FOUND])) / min(FOUND, len(relevant))
    return hits, next((1 / place for place, one in enumerate(ranked, 1) if one in relevant), 0.0)


def mean(rows: Sequence[tuple[float, float]]) -> dict[str, float]:
    recall, mrr = np.mean(np.asarray(rows), axis=0)
    return {"recall": round(float(recall), 3), "mrr": round(float(mrr), 3)}


def place(embedder: Embedder, query: str, kind: EmbeddedKind) -> Vector:
    return Vector(embedder.space, embedder.embed_queries([query])[0], kind)


def names(store: GraphStore) -> dict[str, str]:
    """Trajectory id -> the name that its sender gave it."""
    return {one.id: one.ref or "" for one in store.export()}


def by_store(store: GraphStore, embedder: Embedder) -> Rank:
    refs = names(store)

    def rank(query: str, target: Target) -> list[str]:
        found = store.nearest(place(embedder, query, "text"), k=EVERYTHING, target=target)
        return [f"{refs[one.trajectory]}/{one.step}" for one in found]

    return rank


def tokens(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def by_bm25(texts: dict[str, str], targets: dict[str, Target]) -> Rank:
    counts = {key: Counter(tokens(text)) for key, text in texts.items()}
    length = {key: sum(count.values()) for key, count in counts.items()}
    usual = sum(length.values()) / len(length)
    holding = Counter(word for count in counts.values() for word in count)

    def score(key: str, words: set[str]) -> float:
        spread = SATURATION * (1 - LENGTH + LENGTH * length[key] / usual)
        return sum(
            math.log(1 + (len(counts) - holding[word] + 0.5) / (holding[word] + 0.5))
            * counts[key][word]
            * (SATURATION + 1)
            / (counts[key][word] + spread)
            for word in words & counts[key].keys()
        )

    def rank(query: str, target: Target) -> list[str]:
        words = set(tokens(query))
        keys = [key for key in texts if targets[key] == target]
        return sorted(keys, key=lambda key: (-score(key, words), key))

    return rank


def by_reasoning(reasonings: dict[str, str], targets: dict[str, Target]) -> Rank:
    embedder = HashEmbedder()
    known = dict(zip(reasonings, embedder.embed(list(reasonings.values())), strict=True))

    def rank(query: str, target: Target) -> list[str]:
        asked = np.frombuffer(embedder.embed([query])[0], dtype="<f4")
        keys = [key for key in known if targets[key] == target]
        near = {key: float(np.frombuffer(known[key], dtype="<f4") @ asked) for key in keys}
        return sorted(keys, key=lambda key: (-near[key], key))

    return rank


def judged(name: str, rank: Rank) -> list[dict[str, object]]:
    """A row for each half of the queries."""
    rows = []
    for split in ("dev", "test"):
        some = [one for one in labelled() if one.split == split]
        found = mean([scores(rank(one.query, one.target), one.relevant) for one in some])
        rows.append({"by": name, "half": split, "queries": len(some), **found})
    return rows


def target_of(example: Example) -> Target:
    return "cuda" if example.target.startswith("cuda/") else "openmp"


def codes(store: GraphStore, embedder: Embedder, examples: Sequence[Example]) -> dict[str, object]:
    """What the code before each step finds in other problems, by each kind of vector."""
    row: dict[str, object] = {"by": embedder.space.model}
    for kind in PROPERTIES:
        found = []
        for step in examples:
            relevant = frozenset(
                example.id
                for example in examples
                if example.target == step.target and example.problem != step.problem
            )
            if relevant:
                near = store.nearest(
                    place(embedder, step.before, kind),
                    k=EVERYTHING,
                    target=target_of(step),
                    exclude_problem=step.problem,
                )
                found.append(scores([one.id for one in near], relevant))
        row |= {f"{kind}_{name}": value for name, value in mean(found).items()}
        row["codes"] = len(found)
    return row


def fill(settings: Settings) -> None:
    for path in sorted((CORPUS / "trajectories").glob("*.jsonl")):
        with path.open("rb") as lines:
            for _ in grow(settings, lines, "lexical", path.name):
                pass


def every_example(store: GraphStore, embedder: Embedder) -> list[Example]:
    anywhere = place(embedder, "code", "text")
    return sorted(store.nearest(anywhere, k=EVERYTHING), key=lambda one: one.id)


def texts_of(store: GraphStore, examples: Sequence[Example]) -> list[str]:
    """What is embedded of examples as their texts."""
    known = {technique.id: technique for technique in store.techniques()}
    return [
        text_of(
            {
                "name": known[example.target].name,
                "definition": known[example.target].definition,
                "label": example.original_label,
                "reasoning": example.reasoning,
                "detail": example.detail,
            }
        )
        for example in examples
    ]


def baselines(store: GraphStore, examples: Sequence[Example]) -> list[dict[str, object]]:
    refs = names(store)
    keys = [f"{refs[example.trajectory]}/{example.step}" for example in examples]
    texts = dict(zip(keys, texts_of(store, examples), strict=True))
    reasonings = {key: one.reasoning for key, one in zip(keys, examples, strict=True)}
    targets = {key: target_of(one) for key, one in zip(keys, examples, strict=True)}
    return [
        *judged("BM25", by_bm25(texts, targets)),
        *judged(f"{HASHED.model}, reasonings alone", by_reasoning(reasonings, targets)),
    ]


def main() -> None:
    specs = sys.argv[1:] or ["hash"]
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(store="embedded", data_dir=Path(folder), corpus=CORPUS)
        fill(settings)
        rows, by_code = [], []
        store = open_store(settings)
        try:
            for spec in specs:
                embedder = embedder_of(settings.model_copy(update={"embedder": spec}))
                list(store.embed(embedder.space, embedder.embed, change=True))
                examples = every_example(store, embedder)
                rows += judged(embedder.space.model, by_store(store, embedder))
                by_code.append(codes(store, embedder, examples))
            rows += baselines(store, examples)
        finally:
            store.close()
            stop_embedded(settings)
    print(json.dumps({"rows": rows, "codes": by_code}))


if __name__ == "__main__":
    main()
