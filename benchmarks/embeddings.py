"""How well embeddings find names, examples and codes.

`python -m benchmarks.embeddings` prints one JSON object.
No store is needed: vectors are compared exactly, as on one transition.

Names: each name of corpus/relabel (half "test") looks for its technique among those of its target.
recall@k counts names with a technique that have it among the k nearest. "alone" takes the nearest
technique from a cosine on that gives 95 % precision on the half "dev": what nearness would merge
without any other rule. Examples: the queries of benchmarks/queries/nearest.jsonl (labelled blind,
half "test") look among the 110 steps that they were labelled for. Codes: the code before each of
these steps looks for codes before the same technique in other problems.
"""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regraph_kg.ingest.relabel.embedding import Shortlists
from regraph_kg.llm.ngrams import vectors_of
from regraph_kg.models.technique import Vocabulary, start_id
from regraph_kg.settings import Settings
from regraph_kg.wiring.names import open_cascade, read_vocabulary

CORPUS = Path(__file__).parents[1] / "corpus"
QUERIES = Path(__file__).parent / "queries" / "nearest.jsonl"
LABELLED = "corpus-v0/"
"""Trajectories whose steps the queries were labelled for."""
FOUND = 5
PRECISION = 0.95

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class CorpusStep:
    """A step of the corpus: its place, what is embedded of it, and the code before it."""

    ref: str
    problem: str
    target: str
    technique: str
    text: str
    before: str


def lines(paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def steps(vocabulary: Vocabulary) -> Iterator[CorpusStep]:
    cascade = open_cascade(Settings(), vocabulary)
    for line in lines(sorted((CORPUS / "trajectories").glob("*.jsonl"))):
        before = line["serial"]
        for number, step in enumerate(line["steps"], 1):
            relabelled = cascade.resolve(step["label"], line["target"]).relabelled
            known = vocabulary.known.get(step.get("technique") or relabelled.technique)
            about = (known.name, known.definition) if known else ()
            # As the stores embed an example (backends/vectors.py).
            texts = (*about, step["label"], step.get("reasoning"), step.get("detail"))
            yield CorpusStep(
                ref=f"{line['ref']}/{number}",
                problem=line["problem"],
                target=line["target"],
                technique=known.id if known else relabelled.technique,
                text="\n".join(filter(None, texts)),
                before=before,
            )
            before = step["code"]


def names(vocabulary: Vocabulary) -> dict[str, float]:
    """Recall of the nearest techniques, and what the nearest one alone would merge."""
    shortlists = Shortlists([one for one in vocabulary.candidates if not one.review])
    halves: dict[str, list[tuple[float, bool]]] = {"dev": [], "test": []}
    ranks: list[int] = []
    wanted = 0
    for line in lines(sorted((CORPUS / "relabel").glob("labels.*.jsonl"))):
        technique = line["technique"] if line["technique"] != start_id(line["target"]) else None
        near = shortlists.nearest(line["label"], line["target"])
        ids = [one.technique.id for one in near]
        halves[line["split"]].append((near[0].score if near else 0.0, ids[:1] == [technique]))
        if line["split"] == "test" and technique:
            wanted += 1
            ranks += [ids.index(technique) + 1] if technique in ids else []
    cut = threshold(halves["dev"])
    merged = [right for score, right in halves["test"] if score >= cut]
    return {f"recall@{k}": share(sum(rank <= k for rank in ranks), wanted) for k in (1, 5, 10)} | {
        "alone: cosine from": round(cut, 3),
        "alone: precision": share(sum(merged), len(merged)),
        "alone: recall": share(sum(merged), wanted),
    }


def threshold(scored: Sequence[tuple[float, bool]]) -> float:
    """The least cosine from which the nearest technique is right as often as `PRECISION`."""
    best, right = 1.0, 0
    for count, (score, hit) in enumerate(sorted(scored, reverse=True), 1):
        right += hit
        if right >= PRECISION * count:
            best = score
    return best


def share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


def scores(ranked: Sequence[str], relevant: frozenset[str]) -> tuple[float, float]:
    """Recall among the first `FOUND`, and one over the place of the first that is relevant."""
    hits = len(relevant & set(ranked[:FOUND])) / min(FOUND, len(relevant))
    return hits, next((1 / place for place, one in enumerate(ranked, 1) if one in relevant), 0.0)


def mean(found: Sequence[tuple[float, float]]) -> dict[str, float]:
    recall, mrr = np.mean(np.asarray(found), axis=0)
    return {"asked": len(found), "recall@5": round(float(recall), 3), "MRR": round(float(mrr), 3)}


def examples(known: Sequence[CorpusStep]) -> dict[str, float]:
    """The labelled queries of the half "test", among the steps that they were labelled for."""
    texts = vectors_of([step.text for step in known])
    asked = [line for line in lines([QUERIES]) if line["split"] == "test"]
    found = []
    for line, query in zip(asked, vectors_of([line["query"] for line in asked]), strict=True):
        order = np.argsort(-(texts @ query), kind="stable")
        ranked = [known[row].ref for row in order if known[row].target == line["target"]]
        found.append(scores(ranked, frozenset(line["relevant"])))
    return mean(found)


def codes(known: Sequence[CorpusStep]) -> dict[str, float]:
    """What the code before each step finds in other problems: codes before the same technique."""
    texts = vectors_of([step.before for step in known])
    found, chance = [], []
    for row, step in enumerate(known):
        order = np.argsort(-(texts @ texts[row]), kind="stable")
        others = [
            known[one]
            for one in order
            if known[one].target == step.target and known[one].problem != step.problem
        ]
        relevant = frozenset(one.ref for one in others if one.technique == step.technique)
        if relevant:
            found.append(scores([one.ref for one in others], relevant))
            drawn = FOUND * len(relevant) / len(others)
            chance.append(drawn / min(FOUND, len(relevant)))
    return mean(found) | {"recall@5 by chance": round(float(np.mean(chance)), 3)}


def main() -> None:
    """Measure and print."""
    vocabulary = Vocabulary(read_vocabulary(Settings()))
    labelled = [step for step in steps(vocabulary) if step.ref.startswith(LABELLED)]
    start = time.perf_counter()
    vectors_of([step.text for step in labelled])
    seconds = time.perf_counter() - start
    figures = {
        "names": names(vocabulary),
        "examples": examples(labelled),
        "codes": codes(labelled),
        "ms a text": round(1000 * seconds / len(labelled), 2),
    }
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
