"""`regraph dev measure`: what it writes beside each step, what it skips, and its exit codes."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.evaluate import EVALUATOR
from regraph_kg.evaluation.measure import check_serial, is_measured, measure, with_measurements
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.report import WHOLE
from regraph_kg.models.evaluation import (
    Candidate,
    EvalReport,
    Interval,
    Outcome,
    Rivalry,
    code_hash,
)
from regraph_kg.models.trajectory import FailedStep, Measurement, RooflinePosition, Trajectory
from regraph_kg.runs.measuring import jobs, measure_all
from tests.search.test_harvest import timing

pytestmark = pytest.mark.slow  # whole stories of the judge or the store: what parts show is quick

PROBLEM = Path(__file__).parents[1] / "evaluation" / "problems" / "scale"
COMMAND = "from regraph_kg.cli.app import main; main()"
MEASURE = ("dev", "measure", "--grade", "screening")
HEAD = 'extern "C" void scale(const float* x, float* y, float a, int n) '
RIGHT = HEAD + "{\n  for (int i = 0; i < n; ++i) y[i] = a * x[i];\n}\n"
SIMD = RIGHT.replace("  for", "#pragma omp simd\n  for")
WRONG = RIGHT.replace("a * x[i]", "x[i]")
DONE = (Outcome.PASSED, Outcome.UNSTABLE_TIMING)
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    cache = tmp_path_factory.mktemp("judge")
    env = {**os.environ, "REGRAPH_CACHE_DIR": str(cache)}

    def run(*args: str | Path) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [
                sys.executable,
                "-c",
                COMMAND,
                "dev",
                "measure",
                "--grade",
                "screening",
                *map(str, args),
            ],
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

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


def attempts(*codes: str, device: str | None = None) -> list[FailedStep]:
    """Attempts that are said to fail, judged on `device` or nowhere."""
    return [
        FailedStep(after_step=0, label="try", outcome=Outcome.CRASHED, code=code, device=device)
        for code in codes
    ]


def measurements(text: str) -> list[tuple[Measurement, ...]]:
    return [s.measurements for s in Trajectory.model_validate_json(text.strip()).steps]


def test_each_step_gets_its_outcome_and_the_times_around_it(
    run: Run, write: Callable[..., Path]
) -> None:
    done = run(write(RIGHT, SIMD), "--run", "first")
    (one,), (two,) = measurements(done.stdout)
    assert one.outcome in DONE
    assert two.outcome in DONE
    assert one.run == two.run == "first"
    assert one.device == two.device != ""
    assert one.before_seconds == one.serial_seconds
    assert one.seconds
    assert one.roofline  # the peaks were measured first
    assert two.serial_seconds
    if one.outcome is Outcome.PASSED:
        # where both are close they are timed in turn, and the ratio of those times counts
        assert two.before_seconds == pytest.approx(one.seconds, rel=0.5)


def test_a_failed_step_stays_with_its_outcome_and_leaves_the_next_without_a_before(
    run: Run, write: Callable[..., Path]
) -> None:
    path = write(WRONG, RIGHT)
    done = run(path, "--in-place")
    (one,), (two,) = measurements(path.read_text())
    assert done.returncode == 1
    assert done.stdout == ""
    assert (one.outcome, one.seconds) == (Outcome.WRONG_ANSWER, None)
    assert "expected" in one.diagnosis
    assert one.diagnosis.splitlines()[0] in done.stderr
    assert two.outcome in DONE
    assert two.before_seconds is None


def test_what_this_machine_has_measured_is_measured_again_only_when_asked(
    run: Run, write: Callable[..., Path]
) -> None:
    path = write(RIGHT)
    run(path, "--in-place", "--run", "one")
    first = path.read_text()
    ((one,),) = measurements(first)
    quiet = one.outcome is Outcome.PASSED  # else a busy machine has measured nothing
    done = run(path, "--in-place", "--run", "two")
    if quiet:
        assert (done.returncode, path.read_text()) == (0, first)
    run(path, "--in-place", "--run", "three", "--again")
    (steps,) = measurements(path.read_text())
    assert [m.run for m in steps] == (["one", "three"] if quiet else ["one", "two", "three"])


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
    told = measure(given, load_problem(PROBLEM), judge, "run")
    ((one,),) = [step.measurements for step in told.steps]
    assert (judge.asked, one.outcome) == (asked, outcome)
    assert (one.effect is None) is (outcome is Outcome.UNSTABLE_TIMING)
    assert is_measured(told, judge) is (outcome is Outcome.PASSED)


class Whole(Busy):
    """A judge whose times are of more than the calls until then."""

    def evaluate(self, candidate: Candidate, problem: Problem) -> EvalReport:
        report = super().evaluate(candidate, problem)
        facts = {WHOLE: "whole batches"} if report.load else {}
        return report.model_copy(update={"load": "", "facts": facts})


@pytest.mark.parametrize(("quiet", "outcome"), [(2, Outcome.PASSED), (9, Outcome.UNSTABLE_TIMING)])
def test_what_was_timed_with_more_than_its_calls_is_no_measurement(
    quiet: int, outcome: Outcome, write: Callable[..., Path]
) -> None:
    judge: Any = Whole(quiet)
    given = Trajectory.model_validate_json(write(RIGHT).read_text())
    told = measure(given, load_problem(PROBLEM), judge, "run")
    assert [m.outcome for step in told.steps for m in step.measurements] == [outcome]


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
    told = measure(given, load_problem(PROBLEM), judge, "run")
    (first,), (second,) = (step.measurements for step in told.steps)
    assert judge.rivals == [None, RIGHT]
    assert (first.before_seconds, first.seconds) == (1.0, 1.0), "the serial code's"
    assert (second.before_seconds, second.seconds) == (0.625, 0.5)
    assert (second.effect_interval, second.pairs) == ((1.2, 1.3), 5)
    assert first.pairs == 0


def test_measuring_does_not_change_which_trajectory_it_is(
    run: Run, write: Callable[..., Path], tmp_path: Path
) -> None:
    path, output = write(RIGHT), tmp_path / "measured.jsonl"
    run(path, "--output", output)
    before, after = (Trajectory.model_validate_json(p.read_text()) for p in (path, output))
    assert before.id == after.id
    assert not before.steps[0].measurements
    assert after.steps[0].measurements


def test_what_is_disclosed_in_part_is_not_measured(write: Callable[..., Path]) -> None:
    given = Trajectory.model_validate_json(write(RIGHT).read_text())
    part = given.model_copy(update={"disclosed": "diff", "content": given.id, "serial": ""})
    with pytest.raises(
        BadInput, match="disclosed as diff only: measure the file that has its code"
    ):
        check_serial(part, load_problem(PROBLEM))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"serial": "int main() {}"}, "other serial code"),
        ({"more": '{"schema": 1}\n'}, "trajectories.jsonl:2: "),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(
    run: Run, write: Callable[..., Path], given: dict[str, str], said: str
) -> None:
    path = write(RIGHT, **given)
    before = path.read_text()
    done = run(path, "--in-place")
    assert done.returncode == 2
    assert said in done.stderr
    assert path.read_text() == before


def test_what_the_output_holds_already_is_not_measured_again(
    run: Run, write: Callable[..., Path], tmp_path: Path
) -> None:
    path, output = write(RIGHT), tmp_path / "measured.jsonl"
    run(path, "--output", output, "--run", "one")
    ((first,),) = measurements(output.read_text())
    done = run(path, "--output", output, "--run", "two", "--metric", "device,call")
    (found,) = measurements(output.read_text())
    quiet = first.outcome is Outcome.PASSED  # else a busy machine has measured nothing
    assert [m.run for m in found] == (["one"] if quiet else ["one", "two"])
    assert ("measured nothing" in done.stderr) is quiet
    assert path.read_text().count("measurements") == 1


def test_other_targets_and_problems_are_left_alone(run: Run, write: Callable[..., Path]) -> None:
    path = write(RIGHT)
    before = path.read_text()
    for option in (("--target", "cuda"), ("--problem", "other"), ("--metric", "device")):
        done = run(path, "--in-place", *option)
        assert done.returncode == 0, done.stderr
        assert "measured nothing" in done.stderr
    assert path.read_text() == before


def test_attempts_that_fail_get_their_verdict_and_others_are_left_out(
    run: Run, write: Callable[..., Path]
) -> None:
    path = write(RIGHT)
    given = Trajectory.model_validate_json(path.read_text())
    failures = attempts(WRONG, SIMD, "no code") + attempts(WRONG, device="another CPU")
    failures[0] = failures[0].model_copy(update={"technique": "openmp/loop-interchange"})
    told = given.model_copy(update={"failures": (*failures, *attempts(""))})
    path.write_text(told.model_dump_json(by_alias=True) + "\n")
    run(path, "--in-place")
    wrong, uncompiled, before, unknown = Trajectory.model_validate_json(path.read_text()).failures
    assert (wrong.outcome, wrong.code) == (Outcome.WRONG_ANSWER, WRONG)
    assert wrong.device
    assert wrong.ruled_out, "there is one loop"
    assert "y[" in wrong.diagnosis
    assert uncompiled.outcome is Outcome.COMPILE_FAILED
    assert (before.outcome, before.device) == (Outcome.CRASHED, "another CPU")
    assert unknown.outcome is Outcome.CRASHED


def test_a_problem_on_the_device_is_timed_by_calls_where_there_is_none(
    write: Callable[..., Path],
) -> None:
    given = Trajectory.model_validate_json(write(RIGHT).read_text())
    problem = load_problem(PROBLEM).model_copy(update={"metric": "device"})
    (job,) = jobs([given], [], lambda _: problem)
    assert job.metric == "call"


def test_a_metric_that_nobody_knows_is_refused(run: Run, write: Callable[..., Path]) -> None:
    done = run(write(RIGHT), "--metric", "call,wall")
    assert done.returncode == 2
    assert "--metric wall" in done.stderr


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


def test_many_trajectories_are_told_as_they_end_and_an_error_ends_the_rest(
    write: Callable[..., Path],
) -> None:
    given = Trajectory.model_validate_json(write(RIGHT, SIMD).read_text())
    problem = load_problem(PROBLEM)
    todo = jobs([given] * 3, ["call", "device"], lambda _: problem)
    assert [job.metric for job in todo] == ["call"] * 3  # openmp knows no other
    judge: Any = Busy(0)
    told = list(measure_all(todo, judge, "run", at_once=2))
    assert [len(new.steps) for _, new in told] == [2, 2, 2]
    lost: Any = Lost()
    with pytest.raises(ToolError):
        list(measure_all(todo, lost, "run", at_once=1))
    assert lost.asked <= 2


class Lost:
    """A judge whose device is gone."""

    asked = 0

    def evaluate(self, *_: object) -> EvalReport:
        self.asked += 1
        raise ToolError("the GPU is gone")


@pytest.mark.parametrize(
    ("memory", "compute", "regime"),
    [(0.29, 0.1, "below"), (0.31, 0.1, "memory"), (0.4, 0.5, "compute"), (0.3, 0.0, "memory")],
)
def test_a_step_is_near_the_nearer_roof_or_near_none(
    memory: float, compute: float, regime: str
) -> None:
    assert RooflinePosition(memory=memory, compute=compute).regime == regime


def test_two_places_to_write_are_one_too_many(run: Run, write: Callable[..., Path]) -> None:
    done = run(write(RIGHT), "--in-place", "--output", "elsewhere.jsonl")
    assert done.returncode == 2
    assert "--output" in done.stderr
