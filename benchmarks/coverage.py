"""Figures that repeat: the same code judged many times, and the serial code against itself.

`python benchmarks/run.py coverage [--judgements N] [--targets openmp,cuda] [--seconds S]
[--grades screening,full] [--problems NAME,...] [--codes same,aa] [--busy K]`; prints JSON.

`same`: the last step of a corpus trajectory, judged N times by one judge: in how many of the 95 %
intervals does the median of all N speedups lie? `aa`: the serial code as an openmp candidate: in
how many does the interval exclude 1, and on which side ("faster" is the claim that must not be
made)? Outcomes other than passed are counted; intervals of timed reports count, whatever the
outcome. `--busy K` runs K processes beside that do nothing but compute. A code's judgements end
after S seconds. Not measured: other codes, days, machines.
"""

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade
from regraph_kg.models.target import Target
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.settings import read_settings
from regraph_kg.wiring.shipped import corpus_folder


def trajectories(corpus: Path, target: Target) -> Iterator[Trajectory]:
    """The first trajectory of each problem."""
    seen = set()
    for path in sorted((corpus / "trajectories").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            trajectory = Trajectory.model_validate_json(line)
            if trajectory.target == target and trajectory.problem not in seen:
                seen.add(trajectory.problem)
                yield trajectory


def judged(
    judge: Judge, candidate: Candidate, problem: Problem, count: int, patience: float
) -> list[EvalReport]:
    """The same candidate again and again."""
    start, reports = time.monotonic(), list[EvalReport]()
    while len(reports) < count and time.monotonic() - start < patience:
        reports.append(judge.evaluate(candidate, problem))
    return reports


def figures(reports: list[EvalReport]) -> dict[str, object]:
    """How far the judgements agree."""
    timed = [report for report in reports if report.speedup and report.speedup_interval]
    found: dict[str, object] = {
        "judgements": len(reports),
        "outcomes": dict(Counter(report.outcome.value for report in reports)),
        "under_load": sum(bool(report.load) for report in reports),
        "seconds_each": round(
            median(r.stages["total"] - r.stages.get("open", 0.0) for r in reports), 3
        ),
        "diagnoses": sorted({r.diagnosis[:160] for r in reports if r.diagnosis})[:3],
    }
    if not timed:
        return found
    speedups = sorted(report.speedup or 0.0 for report in timed)
    middle = median(speedups)
    intervals = [report.speedup_interval for report in timed if report.speedup_interval]
    holding = sum(interval.low <= middle <= interval.high for interval in intervals)
    return found | {
        "median": round(middle, 3),
        "range": [round(speedups[0], 3), round(speedups[-1], 3)],
        "hold_the_median": holding,
        "share": round(holding / len(timed), 3),
        "width": round(median(interval.high / interval.low for interval in intervals), 3),
        "faster": sum(interval.low > 1 for interval in intervals),
        "slower": sum(interval.high < 1 for interval in intervals),
        "speedups": [round(report.speedup or 0.0, 3) for report in timed],
    }


def rows(given: argparse.Namespace, grade: Grade) -> Iterator[dict[str, object]]:
    corpus = corpus_folder(read_settings())
    for target in given.targets.split(","):
        with tempfile.TemporaryDirectory() as cache, Judge(Path(cache), grade=grade) as judge:
            for trajectory in trajectories(corpus, target):
                if given.problems and trajectory.problem not in given.problems.split(","):
                    continue
                problem = load_problem(corpus / "problems" / trajectory.problem)
                codes = {"same": trajectory.steps[-1].code}
                if target == "openmp":
                    codes["aa"] = trajectory.serial
                for kind, code in codes.items():
                    if kind not in given.codes.split(","):
                        continue
                    wanted = given.judgements
                    candidate = Candidate(target, code)
                    reports = judged(judge, candidate, problem, wanted, given.seconds)
                    head = {"code": kind, "target": target, "problem": problem.name, "grade": grade}
                    yield head | {"busy": given.busy} | figures(reports)


def compute() -> None:
    while True:
        sum(range(100_000))


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Have so many processes compute meanwhile."""
    running = [multiprocessing.Process(target=compute, daemon=True) for _ in range(processes)]
    for one in running:
        one.start()
    try:
        yield
    finally:
        for one in running:
            one.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description="The same code judged many times.")
    parser.add_argument("--judgements", type=int, default=200)
    parser.add_argument("--targets", default="openmp")
    parser.add_argument("--problems", default="", help="of the corpus; all if none is named")
    parser.add_argument("--codes", default="same,aa")
    parser.add_argument("--grades", default="screening")
    parser.add_argument("--seconds", type=float, default=600.0, help="for each code")
    parser.add_argument("--busy", type=int, default=0)
    given = parser.parse_args()
    found: list[dict[str, object]] = []
    not_measured: list[str] = []
    with busy(given.busy):
        for grade in given.grades.split(","):
            try:
                for row in rows(given, grade):
                    found.append(row)
                    print(json.dumps({k: row[k] for k in row if k != "speedups"}), file=sys.stderr)
            except ToolError as error:
                not_measured.append(f"{given.targets}: {error}")
    print(json.dumps({"rows": found, "not_measured": not_measured}))


if __name__ == "__main__":
    main()
