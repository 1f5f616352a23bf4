"""Trajectories for the tests, as the dictionaries and lines of their files."""

import json
from pathlib import Path
from typing import Any

from regraph_kg.ingest.cascade import Cascade
from regraph_kg.models.technique import Technique, Vocabulary
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.settings import Settings
from regraph_kg.wiring.names import open_cascade

VOCABULARY = (
    Technique(
        id="cuda/shared-memory-tiling",
        name="Shared memory tiling",
        target="cuda",
        aliases=("smem tiling", "tiled kernel"),
    ),
    Technique(id="cuda/memory-coalescing", name="Memory coalescing", target="cuda"),
    Technique(
        id="openmp/cache-tiling", name="Cache tiling", target="openmp", aliases=("tiled loops",)
    ),
    Technique(
        id="openmp/simd", name="SIMD vectorization", target="openmp", aliases=("#pragma omp simd",)
    ),
)


def row(number: int = 0, *labels: str, **fields: Any) -> dict[str, Any]:
    """One line's object; `number` makes the content unlike that of other numbers."""
    steps = [{"label": label, "code": f"// {number} {label}"} for label in labels or ("Tiling",)]
    usual = {"schema": 1, "target": "cuda", "problem": f"p{number % 3}", "serial": "int x;"}
    return usual | {"steps": steps} | fields


def by_name(vocabulary: Vocabulary) -> Cascade:
    """What resolves labels without a model, as `regraph ingest` does by default."""
    return open_cascade(Settings(), vocabulary)


def measured(seconds: float, **fields: Any) -> dict[str, Any]:
    """A passed measurement: before it the code took 1 s."""
    usual = {"device": "GPU", "toolchain": "nvcc", "evaluator": "1", "run": "a"}
    timed = {"outcome": "passed", "seconds": seconds, "before_seconds": 1.0, "serial_seconds": 2.0}
    return usual | timed | fields


def write(path: Path, *rows: dict[str, Any] | str) -> Path:
    """A JSONL file; a string is a line as it is."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def trajectory(*args: Any, **fields: Any) -> Trajectory:
    """`row` as a value."""
    return Trajectory.model_validate(row(*args, **fields))


def many(count: int) -> list[dict[str, Any]]:
    """Rows that share techniques under many names, with measurements, failures and new names."""
    names = (
        "Tiled kernel",
        "smem tiling",
        "Odd trick",
        "odd tricks",
        "Memory coalescing",
        "odd tricking",
    )
    rows = []
    for number in range(count):
        labels = [names[(number + step) % len(names)] for step in range(2 + number % 2)]
        failure = {"after_step": 1, "label": f"Bad idea {number % 2}", "outcome": "crashed"}
        one = row(number, *labels, failures=[failure], ref=f"ref {number}")
        for step in one["steps"]:
            step["measurements"] = [measured(0.1 + number / 64)]
        rows.append(one)
    return rows
