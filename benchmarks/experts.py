"""Experts' code and the compiler's own parallelizer, judged: yardsticks of what a search reaches.

    python benchmarks/experts.py FOLDER.. [--target cuda] [--grade screening] [--json FILE]

Each FOLDER is a problem with expert.cpp and expert.cu beside its serial code. CUDA is timed by
metric "device", as in the benches of these problems. For OpenMP the serial code is judged again
with `-ftree-parallelize-loops`, as a pragma: what a person gets for one flag. `speedup` is 1 where
an answer would be refused. Prints one JSON object.
"""

import argparse
import json
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.run import machine
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.rules import Defences
from regraph_kg.models.evaluation import Candidate
from regraph_kg.models.target import TARGETS, Target

FILES = {"openmp": "expert.cpp", "cuda": "expert.cu"}


def codes(folder: Path, problem: Problem, target: Target, threads: int) -> dict[str, str]:
    """The yardsticks of one problem."""
    found = {}
    if (expert := folder / FILES[target]).exists():
        found["expert"] = expert.read_text(encoding="utf-8")
    if target == "openmp":
        flag = f'#pragma GCC optimize ("O3", "tree-parallelize-loops={threads}")\n'
        found["compiler"] = flag + problem.serial_code
    return found


def judged(judge: Judge, folder: Path, target: Target, threads: int) -> list[dict[str, Any]]:
    problem = load_problem(folder)
    assert isinstance(problem, Problem)
    if target == "cuda":
        problem = problem.model_copy(update={"metric": "device"})
    rows = []
    for name, code in codes(folder, problem, target, threads).items():
        report = judge.evaluate(Candidate(target, code), problem)
        interval = report.speedup_interval
        rows.append(
            {
                "problem": problem.name,
                "target": target,
                "code": name,
                "outcome": str(report.outcome),
                "speedup": report.sure_speedup or 1.0,
                "interval": interval and [interval.low, interval.high],
                "why": "" if report.sure_speedup else (report.diagnosis or "")[-300:],
            }
        )
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Experts' code, judged.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--target", choices=list(TARGETS), default="openmp")
    parser.add_argument("--grade", choices=["screening", "full"], default="screening")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    facts = machine()
    result: dict[str, Any] = {
        "benchmark": "experts",
        "command": f"python benchmarks/experts.py --target {given.target} --grade {given.grade}",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": facts,
        "rows": [],
    }
    # the pragma is no cheat here: it stands for a flag of the user's own compiler
    defences = Defences(source_rules=False)
    with tempfile.TemporaryDirectory() as cache:
        for folder in given.folders:
            with Judge(Path(cache), grade=given.grade, defences=defences) as judge:
                result["rows"] += judged(judge, folder, given.target, int(facts["cores"]))
            if given.json:
                given.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
