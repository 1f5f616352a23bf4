"""Measures a trajectory: judges every step's code and writes outcome and times beside it.

All steps of a trajectory are measured in one go, so that a step's effect (time before over time
after) compares times of one session. Not covered: steps of a trajectory spread over machines.
"""

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.evaluate import EVALUATOR
from regraph_kg.evaluation.hosts.queue import Evaluator
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from regraph_kg.models.target import Target
from regraph_kg.models.trajectory import Measurement, Trajectory

_TRIES = 3
"""How often a step is judged while its times mean nothing: our machine's fault, not its own."""


def is_measured(trajectory: Trajectory, judge: Evaluator) -> bool:
    """Whether every step has been measured by this judge on this machine with this toolchain.

    What was timed too noisily, or while the machine did other work, has not.
    """
    here = (judge.device(trajectory.target), judge.toolchain(trajectory.target), EVALUATOR)
    return all(
        any(
            m.key[:3] == here and m.outcome is not Outcome.UNSTABLE_TIMING
            for m in step.measurements
        )
        for step in trajectory.steps
    )


def measure(trajectory: Trajectory, problem: Problem, judge: Evaluator, run: str) -> Trajectory:
    """The trajectory with a new measurement, named `run`, at each step.

    `before_seconds` is the previous step's time, the serial code's for the first step, None after
    a step that did not pass. Raises `BadInput` where the trajectory starts from other serial code
    than the problem: its times would mean nothing.
    """
    if trajectory.serial != problem.serial_code:
        raise BadInput(
            f"a trajectory starts from other serial code than problem {problem.name}:"
            " give it the code of that problem's serial.cpp"
        )
    before: float | None = None
    steps = []
    for index, step in enumerate(trajectory.steps):
        report = _judge(judge, problem, trajectory.target, step.code)
        if index == 0 and report.baseline:
            before = report.baseline.median
        new = _measurement(report, run, before)
        steps.append(step.model_copy(update={"measurements": (*step.measurements, new)}))
        before = new.seconds if new.outcome is Outcome.PASSED else None
    return trajectory.model_copy(update={"steps": tuple(steps)})


def _judge(judge: Evaluator, problem: Problem, target: Target, code: str) -> EvalReport:
    for _ in range(_TRIES):
        report = judge.evaluate(Candidate(target, code), problem)
        if report.outcome is not Outcome.UNSTABLE_TIMING and not report.load:
            break
    return report


def _measurement(report: EvalReport, run: str, before: float | None) -> Measurement:
    """What a report says of a step; times taken under load are as good as unstable ones."""
    busy = report.passed and report.load
    return Measurement(
        device=report.device,
        toolchain=report.toolchain,
        evaluator=report.evaluator,
        run=run,
        outcome=Outcome.UNSTABLE_TIMING if busy else report.outcome,
        metric=report.metric,
        seconds=report.timing.median if report.timing else None,
        before_seconds=before,
        serial_seconds=report.baseline.median if report.baseline else None,
    )
