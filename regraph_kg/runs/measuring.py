"""Measuring many trajectories by one judge; several are under way so that it never waits.

Each is measured wholly and yielded at once: a caller that writes it down loses no more than
the current ones. Not here: the output (cli/measure.py).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from regraph_kg.evaluation import measure as stage
from regraph_kg.evaluation.evaluator import Evaluator
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.base import Metric
from regraph_kg.models.target import TARGETS
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import FailedStep, Measurement, Trajectory
from regraph_kg.search.code.facts import facts_of
from regraph_kg.search.fit.fit import applicable


@dataclass(frozen=True, slots=True)
class MeasureJob:
    """One trajectory to be measured by the metric of its problem."""

    trajectory: Trajectory
    problem: Problem

    @property
    def metric(self) -> Metric:
        return self.problem.metric


def jobs(
    trajectories: Iterable[Trajectory], metrics: Sequence[Metric], find: Callable[[str], Problem]
) -> list[MeasureJob]:
    """Jobs in the judge's order; without `metrics` each by its problem's own metric, or by "call".

    A metric that a target cannot be timed by is left out. Raises `BadInput` before anything is
    judged: for a problem that is not there, or of other serial code.
    """
    problems: dict[str, Problem] = {}
    todo = []
    for trajectory in trajectories:
        if trajectory.problem not in problems:
            problems[trajectory.problem] = find(trajectory.problem)
        problem = problems[trajectory.problem]
        stage.check_serial(trajectory, problem)
        possible = TARGETS[trajectory.target].metrics
        own: Metric = problem.metric if problem.metric in possible else "call"
        for metric in metrics or (own,):
            if metric in possible:
                todo.append(MeasureJob(trajectory, problem.model_copy(update={"metric": metric})))
    return sorted(todo, key=lambda job: (job.trajectory.target, job.problem.name, job.metric))


def marked(trajectory: Trajectory, vocabulary: Mapping[str, Technique]) -> Trajectory:
    """Each measurement and failure says whether preconditions rule out the code before its step.

    `vocabulary` is by id; what it lacks is not ruled out. Nor is a first step on a GPU: the search
    begins from a ported program there, not from the serial code.
    """
    codes = (trajectory.serial, *(step.code for step in trajectory.steps))
    ported = TARGETS[trajectory.target].on_gpu

    def out(technique: str | None, number: int) -> bool:
        known = vocabulary.get(technique or "")
        if known is None or not codes[number] or (ported and not number):
            return False
        return applicable(known, facts_of(codes[number])).fits is False

    steps = []
    for number, step in enumerate(trajectory.steps):
        told = {"ruled_out": bool(step.measurements) and out(step.technique, number)}
        measured = tuple(one.model_copy(update=told) for one in step.measurements)
        steps.append(step.model_copy(update={"measurements": measured}))
    failures = tuple(
        one.model_copy(update={"ruled_out": out(one.technique, one.after_step)})
        for one in trajectory.failures
    )
    return trajectory.model_copy(update={"steps": tuple(steps), "failures": failures})


@dataclass(frozen=True, slots=True)
class MeasuredTrajectory:
    """What the judge says of a trajectory."""

    steps: tuple[Measurement, ...]
    failures: tuple[FailedStep, ...]


def measure_all(
    todo: Sequence[MeasureJob], judge: Evaluator, run: str, at_once: int
) -> Iterator[tuple[MeasureJob, MeasuredTrajectory]]:
    """Each job with its measurements, as they end; an error ends all that has not begun."""
    with ThreadPoolExecutor(at_once, "measure") as threads:
        under_way: dict[Future[MeasuredTrajectory], MeasureJob] = {
            threads.submit(_measured, job, judge, run): job for job in todo
        }
        try:
            for future in as_completed(under_way):
                yield under_way[future], future.result()
        finally:
            for future in under_way:
                future.cancel()


def _measured(job: MeasureJob, judge: Evaluator, run: str) -> MeasuredTrajectory:
    return MeasuredTrajectory(
        stage.measurements(job.trajectory, job.problem, judge, run),
        stage.failures(job.trajectory, job.problem, judge),
    )
