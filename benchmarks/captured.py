"""When a CUDA graph pays: one short kernel launched many times, against the same launches captured.

    python -m benchmarks.captured [--json FILE]          on an NVIDIA GPU, 2 minutes

benchmarks/captured/ has one problem and three codes: a launch for each step, a graph that is
captured in each call, and one that is kept for calls with the same arguments. Each graph is
compared with the launches by the judge, both in turn, metric "device", for several numbers of
launches and of points. `ratio` is time of the launches / time of the graph. Prints one JSON object.
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
from regraph_kg.models.evaluation import Candidate

FOLDER = Path(__file__).with_name("captured")
POINTS, LAUNCHES = (4_096, 65_536, 1_048_576), (10, 40, 160)


def compared(judge: Judge, problem: Problem, graph: str) -> dict[str, Any]:
    """One row: a graph against the launches, at the problem's timing shape."""
    code, launched = ((FOLDER / f"{name}.cu").read_text() for name in (graph, "launched"))
    row = {"graph": graph, **problem.sizes.time}
    report = judge.evaluate(Candidate("cuda", code, launched), problem, grade="full")
    if report.outcome != "passed":
        return row | {"outcome": str(report.outcome), "why": (report.diagnosis or "")[:300]}
    rivalry = report.compared
    interval = [rivalry.interval.low, rivalry.interval.high] if rivalry.interval else None
    times = {"microseconds": report.timing and round(report.timing.median * 1e6, 2)}
    return row | {"outcome": "passed", "ratio": rivalry.ratio, "interval": interval} | times


def main() -> None:
    parser = argparse.ArgumentParser(description="Launches against captured launches.")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    problem = load_problem(FOLDER)
    assert isinstance(problem, Problem)
    result: dict[str, Any] = {
        "benchmark": "captured",
        "command": "python -m benchmarks.captured",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": machine(),
        "rows": [],
    }
    with tempfile.TemporaryDirectory() as cache:
        for points in POINTS:
            for launches in LAUNCHES:
                time = {"n": points, "steps": launches}
                sizes = problem.sizes.model_copy(update={"time": time})
                sized = problem.model_copy(update={"sizes": sizes})
                with Judge(Path(cache), grade="full") as judge:
                    for graph in ("kept", "anew"):
                        result["rows"].append(compared(judge, sized, graph))
                        print(json.dumps(result["rows"][-1]), file=sys.stderr, flush=True)
                if given.json:
                    given.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
