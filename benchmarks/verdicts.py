"""What every recorded answer of the corpus is worth: each code judged here, once.

`python benchmarks/run.py verdicts [PROBLEM ...]`; prints one JSON object. `rows` count the outcomes
by problem; `verdicts` has outcome and speedup (None for a failure) of each code, by problem and
hash: benchmarks that replay searches on recorded answers look them up there, so that a replay costs
nothing and is the same everywhere. Screening grade, no incumbent; unstable timings count with their
median, so a table of a busy machine is a noisy one. Only answers to walks on the graph, openmp.
"""

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome, code_hash
from regraph_kg.models.prompt import Reply
from regraph_kg.search.extract import parse
from tests.corpus.corpus import CORPUS, PROBLEMS, answers

WORTH = (Outcome.PASSED, Outcome.UNSTABLE_TIMING)
CACHE = Path.home() / ".cache" / "regraph"


def codes(name: str) -> dict[str, str]:
    """The codes of a problem's recorded answers to walks, by hash."""
    entry = load_problem(CORPUS / "problems" / name).entry
    replies = (
        Reply(text=answer.text, finish="stop", model="recorded")
        for answer in answers(f"{name}.openmp")
        if answer.path
    )
    found = (code for reply in replies if isinstance(code := parse(reply, entry), str))
    return {code_hash(code): code for code in found}


def judged(name: str, judge: Judge) -> Iterator[tuple[str, EvalReport]]:
    """Every code's hash and its report."""
    problem = load_problem(CORPUS / "problems" / name)
    for key, code in codes(name).items():
        yield key, judge.evaluate(Candidate("openmp", code), problem)


def worth(report: EvalReport) -> float | None:
    """The speedup that a search is told of; None for a failure."""
    return report.speedup if report.outcome in WORTH else None


def row(name: str, reports: list[EvalReport]) -> dict[str, Any]:
    """How the answers to one problem came out."""
    outcomes = Counter(str(report.outcome) for report in reports)
    found = [value for report in reports if (value := worth(report)) is not None]
    return {
        "problem": name,
        "codes": len(reports),
        "verified": len(found),
        "faster": sum(value > 1 for value in found),
        "best": max(found),
        "geometric_mean": math.exp(sum(map(math.log, found)) / len(found)),
        "outcomes": ", ".join(f"{name} {count}" for name, count in outcomes.most_common()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="What recorded answers are worth.")
    parser.add_argument("problems", nargs="*", default=PROBLEMS, help=", ".join(PROBLEMS))
    asked = parser.parse_args()
    rows, verdicts = [], dict[str, tuple[str, float | None]]()
    with Judge(CACHE) as judge:
        device, toolchain = judge.device("openmp"), judge.toolchain("openmp")
        for name in asked.problems:
            reports = []
            for key, report in judged(name, judge):
                verdicts[f"{name} {key}"] = (str(report.outcome), worth(report))
                reports.append(report)
            rows.append(row(name, reports))
            print(f"verdicts: {name}", file=sys.stderr)
    about = {"device": device, "toolchain": toolchain}
    print(json.dumps(about | {"rows": rows, "verdicts": verdicts}))


if __name__ == "__main__":
    main()
