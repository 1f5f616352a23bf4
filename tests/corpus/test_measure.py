"""What measuring writes beside each step, what it skips, and its exit codes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpus.tools.measure import jobs, main, with_measurements
from regraph_kg.evaluation.evaluate import EVALUATOR
from regraph_kg.evaluation.measure import is_measured, measurements
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.models.evaluation import (
    Candidate,
    EvalReport,
    Interval,
    Outcome,
    Rivalry,
    code_hash,
)
from regraph_kg.models.trajectory import FailedStep, Measurement, Trajectory
from tests.search.test_harvest import timing

PROBLEM = Path(__file__).parents[1] / "evaluation" / "problems" / "scale"
HEAD = 'extern "C" void scale(const float* x, float* y, float a, int n) '
RIGHT = HEAD + "{\n  for (int i = 0; i < n; ++i) y[i] = a * x[i];\n}\n"
SIMD = RIGHT.replace("  for", "#pragma omp simd\n  for")
WRONG = RIGHT.replace("a * x[i]", "x[i]")
DONE = (Outcome.PASSED, Outcome.UNSTABLE_TIMING)


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    monkeypatch.setenv("REGRAPH_CACHE_DIR", str(tmp_path / "judge"))

    def run(*words: str | Path) -> tuple[int, str]:
        """Exit code and standard error."""
        code = main(["--grade", "screening", *map(str, words)])
        return code, capfd.readouterr().err

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(*codes: str, serial: str | None = None, more: str = "") -> Path:
        content = {
            "schema": 1,
            "target": "openmp",
            "problem": str(PROBLEM),
            "serial": load_problem(PROBLEM).serial_code if serial is None else serial,
            "steps": [{"label": "step", "code": code} for code in codes],
        }
        path = tmp_path / "trajectories.jsonl"
        line = Trajectory.model_validate(content).model_dump_json(by_alias=True)
        path.write_text(f"{line}\n{more}")
        return path

    return write


def read(path: Path) -> Trajectory:
    return Trajectory.model_validate_json(path.read_text())


@pytest.mark.slow
def test_each_step_gets_its_outcome_and_the_times_around_it(
    run: Callable[..., tuple[int, str]], write: Callable[..., Path]
) -> None:
    path = write(RIGHT, WRONG, SIMD)
    before = read(path)
    code, _ = run(path, "--run", "first")
    after = read(path)
    ((one,), (two,), (three,)) = (step.measurements for step in after.steps)
    assert code == 1, "a step failed"
    assert after.id == before.id, "measuring does not change which trajectory it is"
    assert one.outcome in DONE
    assert (one.run, one.before_seconds) == ("first", one.serial_seconds)
    assert one.roofline  # the peaks were measured first
    assert (two.outcome, two.seconds) == (Outcome.WRONG_ANSWER, None)
    assert two.diagnosis
    assert three.outcome in DONE
    assert three.before_seconds is None, "the step before it failed"


@pytest.mark.slow
def test_what_this_machine_has_measured_is_measured_again_only_when_asked(
    run: Callable[..., tuple[int, str]], write: Callable[..., Path]
) -> None:
    path = write(RIGHT)
    run(path, "--run", "one")
    first = read(path).steps[0].measurements
    quiet = first[0].outcome is Outcome.PASSED  # else a busy machine has measured nothing
    run(path, "--run", "two")
    assert (read(path).steps[0].measurements == first) is quiet
    run(path, "--run", "three", "--again")
    assert read(path).steps[0].measurements[-1].run == "three"


@pytest.mark.slow
def test_attempts_that_fail_get_their_verdict_and_others_are_left_out(
    run: Callable[..., tuple[int, str]], write: Callable[..., Path]
) -> None:
    path = write(RIGHT)
    attempt = FailedStep(after_step=0, label="try", outcome=Outcome.CRASHED, code=WRONG)
    changes: list[dict[str, Any]] = [
        {"technique": "openmp/loop-interchange"},
        {"code": SIMD},
        {"code": "no code"},
        {"device": "another CPU"},
        {"code": ""},
    ]
    failures = tuple(attempt.model_copy(update=change) for change in changes)
    told = read(path).model_copy(update={"failures": failures})
    path.write_text(told.model_dump_json(by_alias=True) + "\n")
    run(path)
    wrong, uncompiled, before, unknown = read(path).failures
    assert (wrong.outcome, wrong.code) == (Outcome.WRONG_ANSWER, WRONG)
    assert wrong.device
    assert wrong.ruled_out, "there is one loop"
    assert uncompiled.outcome is Outcome.COMPILE_FAILED
    assert (before.outcome, before.device) == (Outcome.CRASHED, "another CPU")
    assert unknown.outcome is Outcome.CRASHED


@pytest.mark.parametrize("given", [{"serial": "int main() {}"}, {"more": '{"schema": 1}\n'}])
def test_bad_input_is_one_line_and_nothing_is_written(
    run: Callable[..., tuple[int, str]], write: Callable[..., Path], given: dict[str, str]
) -> None:
    path = write(RIGHT, **given)
    before = path.read_text()
    code, err = run(path)
    assert (code, len(err.splitlines()), path.read_text()) == (2, 1, before)


def test_a_metric_that_a_target_lacks_is_left_out(write: Callable[..., Path]) -> None:
    given = read(write(RIGHT))
    problem = load_problem(PROBLEM).model_copy(update={"metric": "device"})
    assert isinstance(problem, Problem)
    for asked in ((), ("call", "device")):
        (job,) = jobs({Path("a"): [given]}, asked, lambda _: problem)
        assert job.problem.metric == "call"


class Busy:
    """A judge on a machine that does other work, until it has been asked `quiet` times."""

    def __init__(self, quiet: int) -> None:
        self.asked, self._quiet = 0, quiet

    def device(self, _: object) -> str:
        return "here"

    toolchain = device

    def evaluate(self, candidate: Candidate, problem: Problem) -> EvalReport:
        self.asked += 1
        times = timing(1.0 / self.asked)
        return EvalReport(
            problem=problem.name,
            target="openmp",
            metric="call",
            code_hash=code_hash(candidate.code),
            outcome=Outcome.PASSED,
            device="here",
            toolchain="here",
            evaluator=EVALUATOR,
            grade="full",
            timing=times,
            baseline=times,
            load="" if self.asked > self._quiet else "load 5 of 2 cores",
        )


@pytest.mark.parametrize(
    ("quiet", "asked", "outcome"),
    [(0, 1, Outcome.PASSED), (2, 3, Outcome.PASSED), (9, 3, Outcome.UNSTABLE_TIMING)],
)
def test_what_was_timed_under_load_is_timed_again_and_never_counts(
    quiet: int, asked: int, outcome: Outcome, write: Callable[..., Path]
) -> None:
    judge: Any = Busy(quiet)
    given = Trajectory.model_validate_json(write(RIGHT).read_text())
    told = with_measurements(given, measurements(given, load_problem(PROBLEM), judge, "run"))
    ((one,),) = [step.measurements for step in told.steps]
    assert (judge.asked, one.outcome) == (asked, outcome)
    assert (one.effect is None) is (outcome is Outcome.UNSTABLE_TIMING)
    assert is_measured(told, judge) is (outcome is Outcome.PASSED)


class InTurn(Busy):
    """A judge that says by how much each step is faster than the one it was timed in turn with."""

    def __init__(self) -> None:
        super().__init__(0)
        self.rivals: list[str | None] = []

    def evaluate(self, candidate: Candidate, problem: Problem) -> EvalReport:
        self.rivals.append(candidate.rival)
        rivalry = candidate.rival and Rivalry(
            code_hash=code_hash(candidate.rival),
            ratio=1.25,
            interval=Interval(low=1.2, high=1.3),
            verdict="faster",
            pairs=5,
        )
        report = super().evaluate(candidate, problem)
        return report.model_copy(update={"rivalry": rivalry})


def test_a_step_is_timed_in_turn_with_the_one_before_it(write: Callable[..., Path]) -> None:
    judge: Any = InTurn()
    given = Trajectory.model_validate_json(write(RIGHT, SIMD).read_text())
    told = with_measurements(given, measurements(given, load_problem(PROBLEM), judge, "run"))
    (first,), (second,) = (step.measurements for step in told.steps)
    assert judge.rivals == [None, RIGHT]
    assert (first.before_seconds, first.seconds) == (1.0, 1.0), "the serial code's"
    assert (second.before_seconds, second.seconds) == (0.625, 0.5)
    assert (second.effect_interval, second.pairs) == ((1.2, 1.3), 5)
    assert first.pairs == 0


def test_of_one_run_the_metric_that_counts_comes_last(write: Callable[..., Path]) -> None:
    given = Trajectory.model_validate_json(write(RIGHT).read_text())
    usual = {"device": "GPU", "toolchain": "nvcc", "evaluator": "3", "run": "r"}
    call = Measurement(**usual, outcome=Outcome.PASSED)
    for outcome, last in ((Outcome.PASSED, "device"), (Outcome.CRASHED, "call")):
        device = Measurement(**usual, outcome=outcome, metric="device")
        for order in ((call, device), (device, call)):
            told = given
            for one in order:
                told = with_measurements(told, (one,))
            assert [m.metric for m in told.steps[0].measurements][-1] == last
