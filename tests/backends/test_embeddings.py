"""What is embedded of an example, and what the built-in embedder finds by it."""

import json
from typing import Any

import numpy as np

from regraph_kg.backends.vectors import text_of
from regraph_kg.llm.ngrams import vectors_of
from tests.corpus.corpus import CORPUS, PROBLEMS

README = "stage tiles in shared memory"  # what README asks `regraph examples --near` for


def steps() -> list[dict[str, Any]]:
    """The steps of the corpus as the graph tells them to an embedder."""
    known = json.loads((CORPUS / "techniques.json").read_text())
    by_id = {one["id"]: one for one in known}
    return [
        step | {name: by_id[step["technique"]].get(name) for name in ("name", "definition")}
        for path in sorted((CORPUS / "trajectories").glob("*.jsonl"))
        if path.name.partition(".")[0] in PROBLEMS
        for line in path.read_text().splitlines()
        for step in json.loads(line)["steps"]
    ]


def test_the_steps_that_stage_tiles_in_shared_memory_are_found_first() -> None:
    examples = steps()
    asked, *vectors = vectors_of([README, *map(text_of, examples)])
    order = np.argsort(-(np.stack(vectors) @ asked), kind="stable")
    first = [examples[number]["technique"] for number in order[:4]]
    assert set(first[:2]) == {"cuda/shared-memory-tiling"}
    assert "cuda/halo-tiling" in first


def test_what_a_step_does_not_say_is_left_out_of_its_text() -> None:
    row = {"name": "Tiling", "definition": "", "label": "tile", "reasoning": "why", "detail": None}
    assert text_of(row) == "Tiling\ntile\nwhy"
