"""What a whole verdict takes of the judge's own memory: at most three times a problem's arrays."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.nightly

VERDICT = """
import json, sys, threading, time
from pathlib import Path
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.models.evaluation import Candidate

def own():
    lines = Path("/proc/self/status").read_text().splitlines()
    return sum(int(s.split()[1]) for s in lines if s.startswith(("RssAnon:", "RssShmem:"))) * 1024

def watch():
    while not done.wait(0.01):
        seen.append(own())

folder, cache = map(Path, sys.argv[1:])
problem, seen, done = load_problem(folder), [own()], threading.Event()
threading.Thread(target=watch, daemon=True).start()
with Judge(cache) as judge:
    report = judge.evaluate(Candidate("openmp", problem.serial_code), problem)
done.set()
arrays = problem.nbytes(problem.sizes.time)
print(json.dumps([report.outcome.value, report.diagnosis, max(seen) - seen[0], arrays]))
"""
ARRAYS, SMALL = 64 * 2**20, 330 * 2**20
"""Bytes of the arrays; of what does not grow with them: truths that are kept, above all."""


def test_a_judge_takes_three_times_the_arrays_at_most(
    problem_folder: Callable[..., Path], tmp_path: Path
) -> None:
    folder = problem_folder(toml=("n = 200000", f"n = {ARRAYS // 8}"))
    (tmp_path / "cache").mkdir()
    run = subprocess.run(
        [sys.executable, "-c", VERDICT, folder, tmp_path / "cache"],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    outcome, diagnosis, taken, arrays = json.loads(run.stdout)
    assert outcome in ("passed", "unstable_timing"), diagnosis
    assert arrays == ARRAYS
    assert taken <= 3 * ARRAYS + SMALL, f"{taken / ARRAYS:.2f} times the arrays"
