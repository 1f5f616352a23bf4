"""What is found by the words of a step."""

import json
from dataclasses import fields

from regraph_kg.llm.ngrams import nearest
from regraph_kg.models.graph import Example, Likeness
from tests.corpus.corpus import CORPUS, PROBLEMS

README = "stage tiles in shared memory"  # what README asks `regraph examples --near` for


def examples() -> list[Example]:
    """The steps of the corpus as examples."""
    absent = {field.name: None for field in fields(Example)}
    return [
        Example(
            **absent
            | {
                "target": step["technique"],
                "original_label": step["label"],
                "reasoning": step["reasoning"],
                "detail": step.get("detail", ""),
            }
        )
        for path in sorted((CORPUS / "trajectories").glob("*.jsonl"))
        if path.name.partition(".")[0] in PROBLEMS
        for line in path.read_text().splitlines()
        for step in json.loads(line)["steps"]
    ]


def test_the_steps_that_stage_tiles_in_shared_memory_are_found_first() -> None:
    found = nearest(examples(), Likeness(README, "words"))
    first = [one.target for one in found[:4]]
    assert set(first[:2]) == {"cuda/shared-memory-tiling"}
    assert "cuda/halo-tiling" in first
    assert all(one.similarity and one.similarity > 0 for one in found[:4])
