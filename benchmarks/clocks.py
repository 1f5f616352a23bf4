"""The judge's clock against CUPTI's: kernels of honest CUDA codes, timed by both.

    python benchmarks/run.py clocks                          needs a GPU and CUPTI

One kernel of aa.py in several lengths, and the honest codes of benchmarks/suite/ with metric
"device", at the full grade. The judge's time is that of three workers whose caches are swept before
each call, less what sweeping takes; CUPTI's is what the device says of the kernels and copies of
one such call, in a worker of its own. Prints one JSON object. Not measured: the CPU's part of a
call, which CUPTI does not see.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.aa import DEVICE, KERNEL, SERIAL, TOML
from benchmarks.judged import codes
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.models.evaluation import Candidate

STEPS = tuple(round(300 * 1.6**power) for power in range(15))
"""Steps of the kernel: about 10 us to 5 ms on an H100."""


def candidates(folder: Path) -> Iterator[tuple[str, Candidate, Problem]]:
    """Name, code and problem, those of one problem together."""
    (folder / "problem.toml").write_text(TOML.format(metric="device", n=2**20), encoding="utf-8")
    (folder / "serial.cpp").write_text(SERIAL, encoding="utf-8")
    problem = load_problem(folder)
    assert isinstance(problem, Problem)
    for steps in STEPS:
        code = (KERNEL + DEVICE).replace("@STEPS@", str(steps))
        yield f"{steps} steps", Candidate("cuda", code), problem
    for file in codes("cuda", "honest/"):
        problem = load_problem(file.problem)
        assert isinstance(problem, Problem)
        if problem.metric == "device":
            code = file.path.read_text(encoding="utf-8")
            yield file.path.stem, Candidate("cuda", code), problem


def main() -> None:
    parser = argparse.ArgumentParser(description="The judge's clock against CUPTI's.")
    parser.parse_args()
    rows, missing = list[dict[str, object]](), list[str]()
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as cache,
        Judge(Path(cache), grade="full") as judge,
    ):
        for name, candidate, problem in candidates(Path(folder)):
            report = judge.evaluate(candidate, problem)
            parts = (float(report.facts.get(f"{part}_seconds", 0)) for part in ("kernel", "copy"))
            kernels = sum(parts)
            print(f"{name}: {report.outcome}", file=sys.stderr, flush=True)
            if report.timing is None or not kernels:
                missing.append(f"{name}: {report.outcome} {report.facts.get('profile', '')}")
                continue
            ours = report.timing.median
            rows.append(
                {"code": name, "judge_us": ours * 1e6, "cupti_us": kernels * 1e6}
                | {"launches": report.facts["kernel_launches"], "ratio": ours / kernels}
            )
    off = median(abs(float(str(row["ratio"])) - 1) for row in rows) if rows else 0.0
    print(json.dumps({"rows": rows, "median_off": off, "not_measured": missing}))


if __name__ == "__main__":
    main()
