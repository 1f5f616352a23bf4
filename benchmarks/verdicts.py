"""Source to verdict, in seconds: opening, glance, screening and full, of shipped codes.

    python benchmarks/run.py verdicts [--target cuda] [--problems matmul,reduction] [--profile]

Of each problem one trajectory's first and last passing steps are judged in one session. "opening"
is what comes before a first verdict, compiling aside; "compiled" are verdicts of a code that was
compiled before; "slower" is a screening of the first step told that the last one's time is had
already, so that it ends at a glance. `--profile` adds where the time of all of it went.
"""

import argparse
import cProfile
import io
import json
import pstats
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args

from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.measure import for_device_pointers
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade
from regraph_kg.models.target import TARGETS, Target

CORPUS = Path(__file__).parents[1] / "corpus"
USUAL = "matmul,colour-conflicts,histogram,reduction,sorted-dots"
REPEATS = 3


def codes(name: str, target: Target) -> list[str]:
    """Codes of the shipped trajectory's steps that passed, in order."""
    lines = (CORPUS / "trajectories" / f"{name}.{target}.jsonl").read_text().splitlines()
    steps = [step for line in lines[:1] for step in json.loads(line)["steps"]]
    return [step["code"] for step in steps if step["measurements"]] or [s["code"] for s in steps]


def judged(
    judge: Judge, candidate: Candidate, problem: Problem, grade: Grade, best: float | None = None
) -> tuple[float, EvalReport]:
    start = time.perf_counter()
    report = judge.evaluate(candidate, problem, grade=grade, incumbent_seconds=best)
    return time.perf_counter() - start, report


def rows(judge: Judge, name: str, target: Target) -> Iterator[dict[str, Any]]:
    """Figures of one problem."""
    problem, steps = load_problem(CORPUS / "problems" / name), codes(name, target)
    problem = problem.model_copy(update={"metric": "device" if target == "cuda" else "call"})
    if target == "cuda":
        steps = [for_device_pointers(code) for code in steps]
    first, last = (Candidate(target, steps[at]) for at in (0, -1))
    seconds, report = judged(judge, last, problem, "glance")
    yield row(name, "first verdict", "glance", [seconds], report)
    for kind, text in (("new text", "\n// %d\n"), ("compiled", "")):
        for grade in get_args(Grade):
            taken: list[float] = []
            for number in range(REPEATS if kind == "compiled" and grade != "full" else 1):
                code = last.code + (text % (number + len(grade)) if text else "")
                seconds, report = judged(judge, Candidate(target, code), problem, grade)
                taken.append(seconds)
            yield row(name, kind, grade, taken, report)
    best = report.timing.median if report.timing else None
    judged(judge, first, problem, "glance")
    seconds, report = judged(judge, first, problem, "screening", best)
    yield row(name, "slower", "screening", [seconds], report)


def row(
    name: str, kind: str, grade: Grade, taken: list[float], report: EvalReport
) -> dict[str, Any]:
    return {
        "problem": name,
        "state": kind,
        "grade": grade,
        "ended_at": report.grade,
        "seconds": round(statistics.median(taken), 3),
        "outcome": report.outcome,
        "diagnosis": report.diagnosis[:200],
        "speedup": report.speedup and round(report.speedup, 2),
        "stages": {stage: round(spent, 3) for stage, spent in report.stages.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Source to verdict.")
    parser.add_argument("--target", default="openmp", choices=TARGETS)
    parser.add_argument("--problems", default=USUAL)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    target: Literal["cuda", "openmp"] = options.target
    figures: dict[str, Any] = {"rows": []}
    profile = cProfile.Profile()
    with tempfile.TemporaryDirectory() as cache, Judge(Path(cache)) as judge:
        if options.profile:
            profile.enable()
        for name in options.problems.split(","):
            for figure in rows(judge, name, target):
                figures["rows"].append({"target": target} | figure)
                print(json.dumps(figure), file=sys.stderr, flush=True)
        profile.disable()
    if options.profile:
        text = io.StringIO()
        pstats.Stats(profile, stream=text).sort_stats("tottime").print_stats(40)
        figures["profile"] = text.getvalue().splitlines()
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
