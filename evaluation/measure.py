"""Measures a trajectory: judges every step's code and says outcome and times of each.

All steps of a trajectory are measured in one go, each in turn with the step before it: a step's
effect (time before over time after) is that of times taken side by side. Not covered: steps of a
trajectory spread over machines.

The corpus' CUDA steps are written for pointers to the host. With metric "device" they are judged as
`for_device_pointers` makes them fit for arrays that lie on the device. Not covered: code that reads
its arguments on the host; it crashes.
"""

import math
from pathlib import Path

from regraph_kg.evaluation.evaluate import EVALUATOR
from regraph_kg.evaluation.evaluation import WHOLE
from regraph_kg.evaluation.evaluator import Evaluator
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.base import Metric
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from regraph_kg.models.trajectory import Measurement, RooflinePosition, Trajectory

_FOR_DEVICE = Path(__file__).with_name("compile") / "device_pointers.hpp"
_TRIES = 3  # judgings of a step while its times mean nothing: the machine's fault, not its own


def for_device_pointers(code: str) -> str:
    """Code for pointers to the host in the form that metric "device" can judge.

    Its copies name a direction and may be refused. With these lines before it, the runtime finds
    that by the pointers, and what the code allocates in a call comes from a pool: a timed call
    covers kernels and copies within the device. Code for device pointers does the same as before.
    """
    return _FOR_DEVICE.read_text("utf-8") + code


def is_measured(trajectory: Trajectory, judge: Evaluator, metric: Metric = "call") -> bool:
    """Whether this judge has measured every step so, here and with this toolchain, quietly."""
    setup = (judge.device(trajectory.target), judge.toolchain(trajectory.target), EVALUATOR)
    return all(
        any(
            m.key[:3] == setup and m.metric == metric and m.outcome is not Outcome.UNSTABLE_TIMING
            for m in step.measurements
        )
        for step in trajectory.steps
    )


def measurements(
    trajectory: Trajectory, problem: Problem, judge: Evaluator, run: str
) -> tuple[Measurement, ...]:
    """A measurement of each step, named `run`, by the problem's metric.

    `before_seconds` is the previous step's time, the serial code's for the first step, None after
    a step that did not pass. Times mean nothing where it starts from other code than the problem.
    """
    before: float | None = None
    rival: str | None = None
    measured = []
    for index, step in enumerate(trajectory.steps):
        code = step.code
        if problem.metric == "device":
            code = for_device_pointers(code)
        for _ in range(_TRIES):
            report = judge.evaluate(Candidate(trajectory.target, code, rival), problem)
            if report.outcome is not Outcome.UNSTABLE_TIMING and not _says_less(report):
                break
        # the serial code is what the first step changes
        if index == 0 and report.baseline:
            before = report.baseline.median
        # times taken in turn drift together, so their ratio says more than two medians
        if report.rivalry and report.timing:
            before = report.rivalry.ratio * report.timing.median
        new = measurement(report, run, before, first=index == 0)
        measured.append(new)
        passed = new.outcome is Outcome.PASSED
        # what did not pass says nothing of the next step
        before, rival = (new.seconds, code) if passed else (None, None)
    return tuple(measured)


def _says_less(report: EvalReport) -> bool:
    """Whether its times are of more than the code: the machine's load, or whole batches."""
    return bool(report.load or WHOLE in report.facts)


def measurement(
    report: EvalReport, run: str, before: float | None, *, first: bool = False
) -> Measurement:
    """A report as a step's measurement; times that are of more than the code count as unstable."""
    # such times accuse nobody, and count for nothing
    busy = report.passed and _says_less(report)
    # The `first` step's effect is its speedup.
    known = report.speedup_interval if first else report.rivalry and report.rivalry.interval
    ends = (known.low, known.high) if known and report.passed else None
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
        effect_interval=ends if ends and ends[0] > 0 and math.isfinite(ends[1]) else None,
        pairs=report.rivalry.pairs if report.rivalry and report.passed else 0,
        diagnosis="" if report.passed else report.diagnosis,
        roofline=RooflinePosition.of(report.account),
    )
