"""What searches begin with, judged: CUDA's start, or OpenMP's first transforms, beside the expert.

    python -m benchmarks.begun FOLDER.. [--target cuda] [--transform TECHNIQUE.NAME]

Each FOLDER is a problem as in benchmarks/unseen_fourth/. For OpenMP the code is judged after the
transform, after parallel-for, and after both. No search, no graph. Prints one JSON object.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.experts import FILES
from benchmarks.run import machine
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.models.evaluation import Candidate
from regraph_kg.models.run import Task
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.search.transform.transform import carried_out, shipped
from regraph_kg.wiring.problems import task_of

TRANSFORMS = Path(__file__).parents[1] / "corpus" / "transforms"
THREADS = "openmp/parallel-for.outermost"


def after(name: str, code: str) -> str | None:
    """The code after a shipped transform, everywhere at once; None where it does not fit."""
    target, _, stem = name.partition("/")
    transform, _ = next(shipped(TRANSFORMS / target / f"{stem}.toml"))
    return next((made for _, made in carried_out(transform, code)), None)


def codes(task: Task, transform: str) -> Iterator[tuple[str, str]]:
    """Names and texts of what a search begins with."""
    if TARGETS[task.target].on_gpu:
        yield from (("start", port.whole(port.start)) for port in task.ports[:1])
        return
    for name, base in (("", task.begun), (transform, after(transform, task.begun))):
        if base and name:
            yield name, base
        if base and (threads := after(THREADS, base)):
            yield " + ".join(filter(None, (name, THREADS))), threads


def judged(
    judge: Judge, folder: Path, task: Task, problem: Problem, transform: str
) -> Iterator[dict[str, Any]]:
    """A row for each code, and for the expert's."""
    found = [*codes(task, transform)]
    if (expert := folder / FILES[task.target]).exists():
        found.append(("expert", expert.read_text(encoding="utf-8")))
    for name, code in found:
        report = judge.evaluate(Candidate(task.target, code), problem)
        interval = report.speedup_interval
        yield {
            "problem": problem.name,
            "target": task.target,
            "code": name,
            "outcome": str(report.outcome),
            "speedup": report.speedup,
            "interval": interval and [interval.low, interval.high],
            "why": "" if report.speedup else (report.diagnosis or "")[-200:],
        }


def main() -> None:
    parser = argparse.ArgumentParser(description="What searches begin with, judged.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--target", choices=list(TARGETS), default="openmp")
    parser.add_argument("--transform", default="openmp/atomic-updates.outermost")
    given = parser.parse_args()
    target: Target = given.target
    result: dict[str, Any] = {
        "benchmark": "unseen",
        "command": f"python -m benchmarks.begun FOLDER.. --target {target}",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": machine(),
        "rows": [],
    }
    with tempfile.TemporaryDirectory() as cache:
        for folder in given.folders:
            problem = load_problem(folder)
            assert isinstance(problem, Problem)
            if TARGETS[target].on_gpu:
                problem = problem.model_copy(update={"metric": "device"})
            with Judge(Path(cache), grade="screening") as judge:
                task = task_of(problem, target, Path(cache))
                for row in judged(judge, folder, task, problem, given.transform):
                    result["rows"].append(row)
                    print(json.dumps(row), file=sys.stderr, flush=True)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
