"""`regraph dev measure`: judge every step of trajectory files and store what it measures."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.progress import TimeRemainingColumn

from regraph_kg import jsonl
from regraph_kg.cli.parameters import argument, option
from regraph_kg.cli.progress import transient
from regraph_kg.errors import BadInput, file_errors
from regraph_kg.evaluation import measure as stage
from regraph_kg.evaluation.evaluator import Evaluator
from regraph_kg.models.base import Metric
from regraph_kg.models.evaluation import Grade, Outcome
from regraph_kg.models.target import TARGETS, DeviceKind, Target
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Measurement, Step, Trajectory
from regraph_kg.report import times
from regraph_kg.runs.learn import lines_of, write_lines
from regraph_kg.runs.measuring import MeasuredTrajectory, MeasureJob, jobs, marked, measure_all
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.judges import judged_here, know_peaks, open_judges
from regraph_kg.wiring.names import read_vocabulary
from regraph_kg.wiring.problems import declared_problem
from regraph_kg.wiring.shipped import corpus_files

_AT_ONCE: dict[DeviceKind, int] = {"gpu": 3, "cpu": 1}
"""Trajectories under way, so that nvcc compiles while others are timed; no more than that hides, as
what is under way is lost when measuring ends early. A CPU's compilers wait for its judge, and its
times drift: there a step is timed right after the one before it."""


def measure(  # noqa: PLR0913, PLR0917 (a command's options)
    files: Annotated[
        list[Path] | None,
        argument("Trajectory JSONL.", metavar="[FILE...]", show_default="the corpus' trajectories"),
    ] = None,
    target: Annotated[
        Target | None,
        option("Only this target's.", show_default="all; without FILE, those with a device here"),
    ] = None,
    problem: Annotated[
        list[str] | None,
        option("Only this problem's; several times for several.", show_default="all"),
    ] = None,
    metric: Annotated[
        str | None,
        option(
            "call, device or call,device: what is timed. A target that cannot be timed so is"
            " left out.",
            show_default="the problem's own",
        ),
    ] = None,
    grade: Annotated[
        Grade, option("full: more inputs, three fresh workers in turn with the serial code.")
    ] = "full",
    in_place: Annotated[bool, option("Write into FILE, after each trajectory.")] = False,
    output: Annotated[
        Path | None,
        option(
            "Write here, after each trajectory; what it holds already is not measured again.",
            show_default="standard output",
        ),
    ] = None,
    again: Annotated[bool, option("Also what this machine has measured before.")] = False,
    run: Annotated[str | None, option("Name of this run.", show_default="the time")] = None,
) -> None:
    """Compile, verify and time every step of the trajectories in FILEs, one run per trajectory.

    An attempt that failed and was not judged yet gets its verdict; one that does not fail is left
    out. What this machine, toolchain and judge have measured wholly is left as it is, so that an
    interrupted run with `--in-place` or `--output` is simply started again. After a change of the
    judge, `regraph dev measure --metric call,device --output FILE` measures all anew.

    Exit code 0: every step passed; 1: some step failed, and stays in the file with its outcome.
    """
    if in_place and output:
        raise BadInput("measure: give --in-place or --output FILE, not both")
    settings = read_settings()
    paths = files or list(corpus_files(settings))
    read = {path: read_trajectories(path) for path in paths}
    vocabulary = {one.id: one for one in read_vocabulary(settings)}
    corpus = _Corpus(read, in_place, output, vocabulary)
    corpus.resume()
    chosen = [
        trajectory
        for trajectory in corpus.trajectories()
        if target in (None, trajectory.target) and (not problem or trajectory.problem in problem)
    ]
    todo = jobs(chosen, _metrics(metric), lambda name: declared_problem(settings, name))
    if files is None and target is None:
        todo = _possible(settings, todo)
    outcomes = Counter[Outcome]()
    name = run or datetime.now(UTC).isoformat(timespec="seconds")
    for judged, group in groupby(todo, lambda job: job.trajectory.target):  # todo is sorted by it
        know_peaks(settings, judged)
        with open_judges(settings, judged, 1, grade) as (judge, _):
            pending = [
                job
                for job in group
                if again or not stage.is_measured(job.trajectory, judge, job.metric)
            ]
            outcomes += _measure(corpus, pending, judge, name)
    corpus.end()
    typer.echo(_summary(outcomes), err=True)
    if outcomes.total() > outcomes[Outcome.PASSED]:
        raise typer.Exit(1)


@dataclass(slots=True)
class _Corpus:
    """Files of trajectories, and their output."""

    read: dict[Path, list[Trajectory]]
    in_place: bool
    output: Path | None
    vocabulary: dict[str, Technique]
    """By id."""
    beside: list[Trajectory] = field(default_factory=list)
    """Trajectories in the output that come from other files."""

    def trajectories(self) -> list[Trajectory]:
        """All trajectories in the files' order."""
        return [trajectory for trajectories in self.read.values() for trajectory in trajectories]

    def resume(self) -> None:
        """Take what an earlier run has written to the output."""
        if not self.output or not self.output.exists():
            return
        earlier = {trajectory.id: trajectory for trajectory in read_trajectories(self.output)}
        for path, trajectories in self.read.items():
            self.read[path] = [
                _joined(trajectory, earlier.pop(trajectory.id, None)) for trajectory in trajectories
            ]
        self.beside = list(earlier.values())

    def add(self, job: MeasureJob, new: MeasuredTrajectory) -> None:
        """Add measurements, and write them with --in-place or --output."""
        for path, trajectories in self.read.items():
            for index, trajectory in enumerate(trajectories):
                if trajectory.id == job.trajectory.id:
                    measured = stage.with_measurements(trajectory, new.steps)
                    judged = measured.model_copy(update={"failures": new.failures})
                    trajectories[index] = marked(judged, self.vocabulary)
                    if self.in_place:
                        write_lines(path, trajectories)
        self._write()

    def end(self) -> None:
        """Print or write all, measured now or before."""
        self._write()
        if not (self.output or self.in_place):
            typer.echo(lines_of(self.trajectories()), nl=False)

    def _write(self) -> None:
        if self.output:
            write_lines(self.output, self.trajectories() + self.beside)


def _metrics(text: str | None) -> list[Metric]:
    metrics = get_args(Metric)
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    for name in names:
        if name not in metrics:
            raise BadInput(f"--metric {name}: not known; give {' or '.join(metrics)}, or both")
    return [name for name in metrics if name in names]


def _possible(settings: Settings, todo: Sequence[MeasureJob]) -> list[MeasureJob]:
    """The jobs that this machine can judge; the others are named on stderr."""
    targets = judged_here(settings)
    for name in sorted({job.trajectory.target for job in todo} - set(targets)):
        typer.echo(f"{name}: no device here, left out (--target {name} says why)", err=True)
    return [job for job in todo if job.trajectory.target in targets]


def _measure(
    corpus: _Corpus, pending: Sequence[MeasureJob], judge: Evaluator, run: str
) -> Counter[Outcome]:
    """Measure a target's trajectories, and show each step; the outcomes."""
    outcomes = Counter[Outcome]()
    with transient(TimeRemainingColumn()) as progress:
        task = progress.add_task("left", total=sum(len(job.trajectory.steps) for job in pending))
        at_once = _AT_ONCE[TARGETS[pending[0].trajectory.target].device] if pending else 1
        for job, new in measure_all(pending, judge, run, at_once):
            corpus.add(job, new)
            progress.advance(task, len(new.steps))
            outcomes.update(measurement.outcome for measurement in new.steps)
            title = f"{job.problem.name} ({job.trajectory.target}, {job.metric})"
            progress.console.print(title)
            for step, measurement in zip(job.trajectory.steps, new.steps, strict=True):
                progress.console.print(f"  {_figures(measurement)}  {step.label}")
                if measurement.diagnosis:
                    progress.console.print(measurement.diagnosis.rstrip())
    return outcomes


def _summary(outcomes: Counter[Outcome]) -> str:
    if not outcomes:
        return "measured nothing: all has been measured here (--again)"
    passed, unstable = outcomes[Outcome.PASSED], outcomes[Outcome.UNSTABLE_TIMING]
    failed = outcomes.total() - passed - unstable
    return (
        f"measured {outcomes.total()} steps: {passed} passed, {failed} failed,"
        f" {unstable} timed badly"
    )


def _joined(trajectory: Trajectory, other: Trajectory | None) -> Trajectory:
    """A trajectory with the measurements of its other copy, too."""
    if other is None:
        return trajectory
    steps = list[Step]()
    for step, copy in zip(trajectory.steps, other.steps, strict=True):
        measured = {m.key: m for m in (*step.measurements, *copy.measurements)}
        steps.append(step.model_copy(update={"measurements": tuple(measured.values())}))
    return trajectory.model_copy(update={"steps": tuple(steps), "failures": other.failures})


def read_trajectories(path: Path) -> list[Trajectory]:
    with file_errors(path, "give a file of trajectories"), path.open("rb") as file:
        return [trajectory for _, trajectory in jsonl.parsed(path, file, Trajectory)]


def _figures(measurement: Measurement) -> str:
    if not measurement.speedup:
        return f"{measurement.outcome:>23}"
    effect = times(measurement.effect) if measurement.effect else "?"
    return f"{times(measurement.speedup):>8}, step {effect:>8}"
