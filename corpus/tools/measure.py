"""Judges every step of trajectory files and writes what it measures into them.

    python -m corpus.tools.measure corpus/queue/NAME/cuda.jsonl [--metric call,device]

A file is written after each trajectory; what this machine, toolchain and judge have measured wholly
is left as it is, so that an interrupted run is simply started again. A failed attempt that was not
judged yet gets its verdict. Exit code 0: every step passed; 1: some step failed, and stays in the
file with its outcome; 2: a file or a problem does not fit.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import get_args

from regraph_kg import jsonl
from regraph_kg.cpp.facts import facts_of
from regraph_kg.errors import BadInput, RegraphError, file_errors
from regraph_kg.evaluation.evaluator import Evaluator
from regraph_kg.evaluation.measure import for_device_pointers, is_measured, measurements
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.base import Metric
from regraph_kg.models.evaluation import Candidate, Outcome, code_hash
from regraph_kg.models.target import TARGETS, DeviceKind
from regraph_kg.models.technique import Technique
from regraph_kg.models.text import times
from regraph_kg.models.trajectory import FailedStep, Measurement, Trajectory
from regraph_kg.runs.learn import write_lines
from regraph_kg.search.fit.fit import applicable
from regraph_kg.settings import read_settings
from regraph_kg.wiring.judges import know_peaks, open_judges
from regraph_kg.wiring.names import read_vocabulary
from regraph_kg.wiring.problems import find_problem

AT_ONCE: dict[DeviceKind, int] = {"gpu": 3, "cpu": 1}
"""Trajectories under way, so that nvcc compiles while others are timed. A CPU's compilers wait for
its judge, and its times drift: there a step is timed right after the one before it."""

Judged = tuple[tuple[Measurement, ...], tuple[FailedStep, ...]]
"""The measurements of a trajectory's steps, and its attempts that failed."""


@dataclass(frozen=True, slots=True)
class MeasureJob:
    """One trajectory of a file, to be measured by the metric of its problem."""

    file: Path
    trajectory: Trajectory
    problem: Problem


def read_trajectories(path: Path) -> list[Trajectory]:
    """The trajectories of a file; `BadInput` names the first bad line."""
    with file_errors(path, "give a file of trajectories"), path.open("rb") as file:
        return [trajectory for _, trajectory in jsonl.parsed(path, file, Trajectory)]


def check_serial(trajectory: Trajectory, problem: Problem) -> None:
    """Raise `BadInput` where it starts from other code: its times would mean nothing."""
    if trajectory.serial != problem.serial_code:
        raise BadInput(
            f"a trajectory starts from other serial code than problem {problem.name}:"
            " give it the code of that problem's serial.cpp"
        )


def with_measurements(trajectory: Trajectory, new: tuple[Measurement, ...]) -> Trajectory:
    """The trajectory with one more measurement at each step; of a run, the one that counts last."""
    steps = []
    for step, latest in zip(trajectory.steps, new, strict=True):
        same_run = [m for m in step.measurements if m.key[:4] == latest.key[:4]]
        other_runs = [m for m in step.measurements if m.key[:4] != latest.key[:4]]
        beside = [m for m in same_run if m.metric != latest.metric]
        ordered = (*other_runs, *sorted((*beside, latest), key=_counts))
        steps.append(step.model_copy(update={"measurements": ordered}))
    return trajectory.model_copy(update={"steps": tuple(steps)})


def _counts(result: Measurement) -> tuple[bool, bool]:
    """Sort key; the last measurement counts: passed after failed, "device" after "call"."""
    return result.outcome is Outcome.PASSED, result.metric == "device"


def jobs(
    files: Mapping[Path, Sequence[Trajectory]],
    metrics: Sequence[Metric],
    find: Callable[[str], Problem],
) -> list[MeasureJob]:
    """The jobs by target; without `metrics` each by its problem's own metric, or by "call".

    A metric that a target cannot be timed by is left out. `BadInput` before anything is judged: a
    problem is not there, or is of other serial code.
    """
    todo = []
    for path, trajectories in files.items():
        for one in trajectories:
            problem = find(one.problem)
            check_serial(one, problem)
            possible = TARGETS[one.target].scatter
            own: Metric = problem.metric if problem.metric in possible else "call"
            todo += [
                MeasureJob(path, one, problem.model_copy(update={"metric": metric}))
                for metric in metrics or (own,)
                if metric in possible
            ]
    # one judge a target is opened, and it keeps a problem's arrays from one job to the next
    return sorted(todo, key=lambda job: (job.trajectory.target, job.problem.name))


def judged_failures(
    trajectory: Trajectory, problem: Problem, judge: Evaluator
) -> tuple[FailedStep, ...]:
    """The attempts that failed, each that was not judged yet with its verdict.

    One that does not fail is left out: nobody claims that it is a step.
    """
    judged = []
    for failure in trajectory.failures:
        if not failure.code or failure.device:
            judged.append(failure)
            continue
        # written for pointers to the host, as all CUDA of the corpus
        code = for_device_pointers(failure.code) if problem.metric == "device" else failure.code
        report = judge.evaluate(Candidate(trajectory.target, code), problem, grade="screening")
        if not report.outcome.is_right:
            verdict = {
                "outcome": report.outcome,
                "diagnosis": report.diagnosis,
                "device": report.device,
                "code_hash": code_hash(failure.code),
            }
            judged.append(failure.model_copy(update=verdict))
    return tuple(judged)


def marked(trajectory: Trajectory, techniques: Mapping[str, Technique]) -> Trajectory:
    """Each measurement and failure says whether preconditions rule out the code before its step.

    `techniques` are by id; what they lack is not ruled out. Nor is a first step on a GPU: the
    search begins from a ported program there, not from the serial code.
    """
    codes = (trajectory.serial, *(step.code for step in trajectory.steps))
    ported = TARGETS[trajectory.target].on_gpu

    def out(technique: str | None, number: int) -> bool:
        known = techniques.get(technique or "")
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


class Measuring:
    """Files of trajectories that are measured in place."""

    def __init__(self, files: dict[Path, list[Trajectory]], run: str) -> None:
        """`run` names the measurements of this session."""
        self.files, self._run = files, run
        self._techniques = {one.id: one for one in read_vocabulary(read_settings())}
        self.outcomes = Counter[Outcome]()

    def measure(self, todo: Iterable[MeasureJob], judge: Evaluator, at_once: int) -> None:
        """Measure the jobs of one target; an error ends all that has not begun."""
        with ThreadPoolExecutor(at_once, "measure") as threads:
            under_way = {threads.submit(self._judged, job, judge): job for job in todo}
            try:
                for future in as_completed(under_way):
                    self._keep(under_way[future], *future.result())
            finally:
                for future in under_way:
                    future.cancel()

    def _judged(self, job: MeasureJob, judge: Evaluator) -> Judged:
        return (
            measurements(job.trajectory, job.problem, judge, self._run),
            judged_failures(job.trajectory, job.problem, judge),
        )

    def _keep(
        self, job: MeasureJob, new: Sequence[Measurement], failures: tuple[FailedStep, ...]
    ) -> None:
        """Write the file, and tell each step."""
        print(f"{job.problem.name} ({job.trajectory.target}, {job.problem.metric})")
        for step, one in zip(job.trajectory.steps, new, strict=True):
            self.outcomes[one.outcome] += 1
            figure = times(one.speedup) if one.speedup else one.outcome
            print(f"  {figure:>9}, step {times(one.effect) if one.effect else '?'}: {step.label}")
            if one.diagnosis:
                print(one.diagnosis.rstrip())
        there = self.files[job.file]
        index = next(at for at, one in enumerate(there) if one.id == job.trajectory.id)
        # what is in the file by now counts: its other metric may have been measured meanwhile
        measured = with_measurements(there[index], tuple(new))
        judged = measured.model_copy(update={"failures": failures})
        there[index] = marked(judged, self._techniques)
        write_lines(job.file, there)


def main(words: Sequence[str] | None = None) -> int:
    """Measure what the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--target", choices=TARGETS, help="only this target's")
    parser.add_argument("--metric", help="call, device or call,device; default: the problem's own")
    parser.add_argument("--grade", choices=("screening", "full"), default="full")
    parser.add_argument("--again", action="store_true", help="also what was measured here before")
    parser.add_argument("--run", default=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S+00:00}")
    asked = parser.parse_args(words)
    metrics = [name for name in get_args(Metric) if name in (asked.metric or "").split(",")]
    if asked.metric and len(metrics) != len(asked.metric.split(",")):
        parser.error(f"--metric {asked.metric}: give {', '.join(get_args(Metric))}, or both")
    settings = read_settings()
    try:
        measuring = Measuring({path: read_trajectories(path) for path in asked.files}, asked.run)
        todo = jobs(measuring.files, metrics, lambda name: find_problem(settings, name))
        for target, group in groupby(todo, lambda job: job.trajectory.target):
            if asked.target not in (None, target):
                continue
            know_peaks(settings, target)  # a step's share of the roof needs them
            with open_judges(settings, target, 1, asked.grade) as (judge, _):
                pending = [
                    job
                    for job in group
                    if asked.again or not is_measured(job.trajectory, judge, job.problem.metric)
                ]
                measuring.measure(pending, judge, AT_ONCE[TARGETS[target].device])
    except RegraphError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(dict(measuring.outcomes) or "all has been measured here (--again)", file=sys.stderr)
    return int(measuring.outcomes.total() > measuring.outcomes[Outcome.PASSED])


if __name__ == "__main__":
    sys.exit(main())
