"""`regraph evaluate`: what it prints, its exit codes, and that it runs alone."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from regraph_kg.models.evaluation import EvalReport, Outcome

from .conftest import HERE, scale_source

pytestmark = pytest.mark.nightly

RIGHT = "for (int i = 0; i < n; ++i) y[i] = a * x[i];"
COMMAND = "from regraph_kg.cli.app import main; main()"
REPORT = EvalReport(
    problem="scale",
    target="openmp",
    metric="call",
    code_hash="",
    outcome=Outcome.PASSED,
    device="d",
    toolchain="t",
    evaluator="0",
    grade="screening",
    stages={"open": 6.1, "compile": 0.6, "verify": 0.3, "time": 0.2, "total": 7.3},
)
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(cache: Path, tmp_path: Path) -> Run:
    def run(*args: str, **env: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", COMMAND, "evaluate", *args],
            env={**os.environ, "REGRAPH_CACHE_DIR": str(cache), "REGRAPH_CORPUS": str(HERE), **env},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def source(tmp_path: Path) -> Callable[[str], str]:
    def write(body: str) -> str:
        path = tmp_path / "candidate.cpp"
        path.write_text(scale_source(body))
        return str(path)

    return write


def test_a_passing_candidate_prints_its_speedup(run: Run, source: Callable[[str], str]) -> None:
    done = run("scale", source(RIGHT))
    busy = "unstable_timing" in done.stdout  # a verified candidate on a machine in turmoil
    said = "right; too noisy to time here (unstable_timing)" if busy else "passed"
    assert done.stdout.startswith(f"scale (openmp): {said}\n")
    assert done.returncode == 0, done.stderr
    assert "speedup" in done.stdout
    stages = r"verify N, glance N, baseline N, time N(, time again N)?(, further N)?"
    spent = rf"^time +N s: .*{stages}$".replace("N", r"[\d.]+")
    assert re.search(spent, done.stdout, re.MULTILINE)
    assert "timing the serial code" in done.stderr, "what takes long is told"


def test_a_failing_candidate_prints_its_diagnosis_and_exits_1(
    run: Run, source: Callable[[str], str]
) -> None:
    done = run("scale", source(""), "--json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert report["outcome"] == "wrong_answer"
    assert "never written" in report["diagnosis"]


def test_bad_input_is_one_line_and_exit_2(run: Run, source: Callable[[str], str]) -> None:
    good = source(RIGHT)
    binary = Path(good).with_name("binary.cpp")
    binary.write_bytes(b"\x7fELF\xff\x00")
    for args in [
        ["nowhere", good],
        [good, good],
        ["scale", "absent.cpp"],
        ["scale", str(binary)],
        ["scale", good, "--target", "metal"],
        ["scale", good, "--against", "absent.cpp"],
    ]:
        done = run(*args)
        assert (done.returncode, done.stdout) == (2, ""), done.stdout + done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_missing_compiler_is_exit_3(
    run: Run, source: Callable[[str], str], tmp_path: Path
) -> None:
    assert run("scale", source(RIGHT), PATH=str(tmp_path)).returncode == 3


def test_the_faster_of_two_codes_is_named(run: Run, source: Callable[[str], str]) -> None:
    own = source(RIGHT)
    other = Path(own).with_name("other.cpp")
    other.write_text(scale_source(RIGHT))
    done = run("scale", own, "--against", str(other))
    assert done.returncode == 1, "equal code is not faster"
    if "unstable_timing" not in done.stdout:
        assert "against    " in done.stdout


def test_several_candidates_are_judged_in_one_opening(
    run: Run, source: Callable[[str], str]
) -> None:
    good = source(RIGHT)
    for name, text in [("wrong.cpp", scale_source("")), ("empty.cpp", " ")]:
        Path(good).with_name(name).write_text(text)
    done = run("scale", good, "wrong.cpp", "empty.cpp")
    assert done.returncode == 1
    assert done.stderr.count("timing the serial code") == 1, done.stderr
    headings = [line for line in done.stdout.splitlines() if line.startswith("--- ")]
    assert headings == [f"--- {name}" for name in (good, "wrong.cpp", "empty.cpp")]
    reports = json.loads(run("scale", "wrong.cpp", "empty.cpp", "--json").stdout)
    assert [report["outcome"] for report in reports] == ["wrong_answer", "rejected_source"]


def test_a_refused_source_is_told_before_anything_is_measured(
    run: Run, tmp_path: Path, source: Callable[[str], str]
) -> None:
    Path(source("")).write_text("  \n")
    done = run("scale", "candidate.cpp", REGRAPH_CACHE_DIR=str(tmp_path / "fresh"))
    assert (done.returncode, done.stderr) == (1, "")
    assert "rejected_source\nthe source is empty" in done.stdout
    assert not (tmp_path / "fresh").exists(), "nothing was compiled"


@pytest.mark.parametrize(
    ("outcome", "good"),
    [(Outcome.PASSED, True), (Outcome.UNSTABLE_TIMING, True), (Outcome.CRASHED, False)],
)
def test_what_is_too_noisy_to_time_has_not_failed(outcome: Outcome, good: bool) -> None:
    report = REPORT.model_copy(update={"outcome": outcome, "load": "2 judges, load 7.1"})
    assert report.outcome.is_right is good
    assert "2 judges, load 7.1" in str(report)
    assert "7.3 s: open 6.1, compile 0.6, verify 0.3, time 0.2" in str(report)


def test_a_problem_with_an_error_is_not_used(
    run: Run, source: Callable[[str], str], problem_folder: Callable[..., Path]
) -> None:
    folder = problem_folder(serial=("int n", "long n"))
    done = run(str(folder), source(RIGHT))
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    again = run(str(folder), source(RIGHT))
    assert again.stderr.splitlines() == [last], "known, so that nothing is told or run again"
