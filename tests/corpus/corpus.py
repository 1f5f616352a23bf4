"""The corpus as the tests read it, and the technique graph that a search of one problem sees."""

import json
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from regraph_kg.models.prompt import RecordedAnswer
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique, Vocabulary, start_id
from regraph_kg.models.trajectory import Trajectory

CORPUS = Path(__file__).parents[2] / "corpus"
PROBLEMS = ("histogram", "matmul", "reduction", "stencil")
"""With recorded answers, which follow each other's trajectories."""
COLLECTED = ("nbody", "prefix-sum", "spmv")
"""Of trajectories that `regraph collect` made; the starter graph lacks them."""
RECORDED = tuple(sorted(path.stem for path in (CORPUS / "recorded").glob("*.jsonl")))
"""<problem>.<target> of each file of recorded answers."""

Successors = Mapping[str, frozenset[str]]


@cache
def vocabulary() -> Vocabulary:
    text = (CORPUS / "techniques.json").read_bytes()
    return Vocabulary(TypeAdapter(list[Technique]).validate_json(text))


@cache
def trajectories(folder: str = "trajectories") -> tuple[Trajectory, ...]:
    files = sorted((CORPUS / folder).glob("*.jsonl"))
    return tuple(
        Trajectory.model_validate_json(line)
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
    )


@cache
def answers(recorded: str) -> tuple[RecordedAnswer, ...]:
    text = (CORPUS / "recorded" / f"{recorded}.jsonl").read_text(encoding="utf-8")
    return tuple(RecordedAnswer.model_validate(json.loads(line)) for line in text.splitlines())


def graph(target: Target, without: str) -> Successors:
    """Technique -> techniques seen after it, in trajectories of the others of `PROBLEMS`."""
    seen: dict[str, set[str]] = defaultdict(set)
    for trajectory in trajectories():
        if trajectory.target == target and trajectory.problem in {*PROBLEMS} - {without}:
            before = start_id(target)
            for step in trajectory.steps:
                assert step.technique is not None
                seen[before].add(step.technique)
                before = step.technique
    return {technique: frozenset(after) for technique, after in seen.items()}


def paths(successors: Successors, start: str, depth: int) -> list[tuple[str, ...]]:
    """Every technique sequence of 1 to `depth` steps from `start`."""
    found: list[tuple[str, ...]] = []
    last: list[tuple[str, ...]] = [()]
    for _ in range(depth):
        last = [
            (*path, technique)
            for path in last
            for technique in sorted(successors.get(path[-1] if path else start, ()))
        ]
        found += last
    return found
