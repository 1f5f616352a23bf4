"""Source to verdict, cold and warm, beside the bare compile of the same source.

`python benchmarks/run.py judge`; prints one JSON object. Candidates are the last steps of the
corpus' trajectories, one for each problem and target. Cold: nothing compiled, no baseline, no
reference. Warm: an open judge and a source text it has not seen. Seen: that text again. The bare
compile makes a shared object with the same compiler and optimization flags, and runs after each
warm verdict. Not measured: several judges at once, full grade.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.compile import HOST_FLAGS
from regraph_kg.evaluation.compile.toolchain import find_cuda, find_gcc
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.gpu.device import find_gpu
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.models.evaluation import Candidate, EvalReport
from regraph_kg.models.target import Target
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.settings import read_settings
from regraph_kg.wiring.shipped import corpus_folder

TARGETS: tuple[Target, ...] = ("openmp", "cuda")
WARM = 3
"""Verdicts on new source texts; the median counts."""

T = TypeVar("T")


def candidates(corpus: Path, target: Target) -> Iterator[Trajectory]:
    """The first trajectory of each problem."""
    seen = set()
    for path in sorted((corpus / "trajectories").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            trajectory = Trajectory.model_validate_json(line)
            if trajectory.target == target and trajectory.problem not in seen:
                seen.add(trajectory.problem)
                yield trajectory


def seconds(call: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def bare_command(target: Target) -> list[str]:
    """What a person would type to compile candidate.* into a shared object."""
    gcc = str(find_gcc().path)
    if target == "openmp":
        return [gcc, *HOST_FLAGS, "-fopenmp", "-fPIC", "-shared", "candidate.cpp", "-o", "out.so"]
    gencode = f"-gencode=arch=compute_{find_gpu().arch},code=sm_{find_gpu().arch}"
    nvcc = [str(find_cuda().nvcc), "-ccbin", gcc, "-std=c++17", "-O3", gencode, "-cudart=none"]
    return [*nvcc, "-Xcompiler=-fPIC", "-shared", "candidate.cu", "-o", "out.so"]


def bare_compile(command: list[str], code: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        name = next(word for word in command if word.startswith("candidate."))
        (Path(folder) / name).write_text(code, encoding="utf-8")
        done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"bare compile failed: {' '.join(command)}: {done.stderr[-500:]}")


def row(problem: Problem, trajectory: Trajectory, command: list[str]) -> dict[str, object]:
    """Figures for one problem and target, in seconds."""
    target, code = trajectory.target, trajectory.steps[-1].code

    def verdict(judge: Judge, number: int) -> EvalReport:
        return judge.evaluate(Candidate(target, f"{code}\n// {number}\n"), problem)

    warm: list[tuple[float, EvalReport]] = []
    compiles, seen = [], []
    with tempfile.TemporaryDirectory() as cache, Judge(Path(cache)) as judge:
        cold, _ = seconds(partial(verdict, judge, 0))
        for number in range(1, 1 + WARM):
            warm.append(seconds(partial(verdict, judge, number)))
            compiles.append(seconds(partial(bare_compile, command, code))[0])
            seen.append(seconds(partial(verdict, judge, number))[0])
    taken, report = sorted(warm, key=lambda one: one[0])[WARM // 2]
    return {
        "target": target,
        "problem": problem.name,
        "outcome": report.outcome.value,
        "toolchain": report.toolchain,
        "cold_s": round(cold, 3),
        "warm_s": round(taken, 3),
        **{
            f"warm_{stage}_s": round(report.stages.get(stage, 0.0), 3)
            for stage in ("compile", "verify", "time")
        },
        "seen_s": round(statistics.median(seen), 3),
        "bare_compile_s": round(statistics.median(compiles), 3),
    }


def main() -> None:
    rows: list[dict[str, object]] = []
    not_measured: list[str] = []
    corpus = corpus_folder(read_settings())
    for target in TARGETS:
        try:
            command = bare_command(target)
        except ToolError as error:
            not_measured.append(f"{target}: {error}")
            continue
        found = list(candidates(corpus, target))
        if not found:
            not_measured.append(f"{target}: no trajectory in {corpus}/trajectories")
        for trajectory in found:
            print(f"judge: {target}, {trajectory.problem}", file=sys.stderr)
            problem = load_problem(corpus / "problems" / trajectory.problem)
            rows.append(row(problem, trajectory, command))
    print(json.dumps({"rows": rows, "not_measured": not_measured}))


if __name__ == "__main__":
    main()
