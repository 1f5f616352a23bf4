"""`regraph dev measure`: judge every step of trajectory files and store what it measures."""

import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, get_args

import typer

from regraph_kg import jsonl, wiring
from regraph_kg.cli.parameters import argument, option
from regraph_kg.errors import BadInput, file_errors
from regraph_kg.evaluation import measure as stage
from regraph_kg.models.base import Metric
from regraph_kg.models.evaluation import Grade, Outcome
from regraph_kg.models.target import TARGETS, DeviceKind, Target
from regraph_kg.models.trajectory import Measurement, Trajectory
from regraph_kg.report import times
from regraph_kg.runs.learn import lines_of, write_lines
from regraph_kg.runs.measuring import MeasureJob, jobs, measure_all
from regraph_kg.settings import Settings, read_settings

_MINUTES_FROM = 120.0
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

    Trajectories that this machine, toolchain and judge have measured wholly are left as they are,
    so that an interrupted run with `--in-place` or `--output` is simply started again. After a
    change of the judge, `regraph dev measure --metric call,device --output FILE` measures all anew.

    Exit code 0: every step passed; 1: some step failed, and stays in the file with its outcome.
    """
    if in_place and output:
        raise BadInput("measure: give --in-place or --output FILE, not both")
    settings = read_settings()
    paths = files or list(wiring.corpus_files(settings))
    corpus = _Corpus({path: read_trajectories(path) for path in paths}, in_place, output)
    corpus.resume()
    chosen = [
        trajectory
        for trajectory in corpus.trajectories()
        if target in (None, trajectory.target) and (not problem or trajectory.problem in problem)
    ]
    todo = jobs(chosen, _metrics(metric), lambda name: wiring.declared_problem(settings, name))
    if files is None and target is None:
        todo = _possible(settings, todo)
    options = _Options(grade, run or datetime.now(UTC).isoformat(timespec="seconds"), again)
    passed = _measure(settings, corpus, todo, options)
    corpus.end()
    if not passed:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class _Options:
    grade: Grade
    run: str
    again: bool


@dataclass(slots=True)
class _Corpus:
    """Files of trajectories, and their output."""

    read: dict[Path, list[Trajectory]]
    in_place: bool
    output: Path | None
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

    def add(self, job: MeasureJob, new: tuple[Measurement, ...]) -> None:
        """Add measurements, and write them with --in-place or --output."""
        for path, trajectories in self.read.items():
            for index, trajectory in enumerate(trajectories):
                if trajectory.id == job.trajectory.id:
                    trajectories[index] = stage.with_measurements(trajectory, new)
                    if self.in_place:
                        write_lines(path, trajectories)
        if self.output:
            write_lines(self.output, self.trajectories() + self.beside)

    def end(self) -> None:
        """Print or write all, measured now or before."""
        if self.output:
            write_lines(self.output, self.trajectories() + self.beside)
        elif not self.in_place:
            typer.echo(lines_of(self.trajectories()), nl=False)


def _metrics(text: str | None) -> list[Metric]:
    metrics = get_args(Metric)
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    for name in names:
        if name not in metrics:
            raise BadInput(f"--metric {name}: not known; give {' or '.join(metrics)}, or both")
    return [name for name in metrics if name in names]


def _possible(settings: Settings, todo: Sequence[MeasureJob]) -> list[MeasureJob]:
    """The jobs that this machine can judge; the others are named on stderr."""
    targets = wiring.judged_here(settings)
    for name in sorted({job.trajectory.target for job in todo} - set(targets)):
        typer.echo(f"{name}: no device here, left out (--target {name} says why)", err=True)
    return [job for job in todo if job.trajectory.target in targets]


def _measure(
    settings: Settings, corpus: _Corpus, todo: Sequence[MeasureJob], options: _Options
) -> bool:
    """Measure target by target; whether every step passed."""
    progress = _Progress()
    for target in TARGETS:
        of_target = [job for job in todo if job.trajectory.target == target]
        if not of_target:
            continue
        wiring.know_peaks(settings, target)
        with wiring.open_judges(settings, target, 1, options.grade) as (judge, _):
            pending = [
                job
                for job in of_target
                if options.again or not stage.is_measured(job.trajectory, judge, job.metric)
            ]
            progress.begin(pending)
            at_once = _AT_ONCE[TARGETS[target].device]
            for job, new in measure_all(pending, judge, options.run, at_once):
                corpus.add(job, new)
                progress.show(job, new)
    progress.sum_up()
    return not progress.failed


@dataclass(slots=True)
class _Progress:
    """Shows on stderr the measured steps and the time left."""

    started: float = field(default_factory=time.monotonic)
    steps: int = 0
    done: int = 0
    failed: int = 0
    unstable: int = 0

    def begin(self, pending: Sequence[MeasureJob]) -> None:
        self.steps += sum(len(job.trajectory.steps) for job in pending)

    def show(self, job: MeasureJob, new: Sequence[Measurement]) -> None:
        """Print one line a step, and the progress of the run."""
        self.done += len(new)
        self.unstable += sum(measurement.outcome is Outcome.UNSTABLE_TIMING for measurement in new)
        self.failed += sum(not measurement.speedup for measurement in new)
        took = time.monotonic() - self.started
        eta = took / self.done * (self.steps - self.done)
        typer.echo(
            f"{job.problem.name} ({job.trajectory.target}, {job.metric};"
            f" {self.done} of {self.steps} steps, {_minutes(eta)} left)",
            err=True,
        )
        for step, measurement in zip(job.trajectory.steps, new, strict=True):
            typer.echo(f"  {_figures(measurement)}  {step.label}", err=True)
            if measurement.diagnosis:
                typer.echo(textwrap.indent(measurement.diagnosis.rstrip(), " " * 27), err=True)

    def sum_up(self) -> None:
        """Print the run in a line."""
        if not self.done:
            typer.echo("measured nothing: all has been measured here (--again)", err=True)
            return
        took = time.monotonic() - self.started
        failed = self.failed - self.unstable
        typer.echo(
            f"measured {self.done} steps in {_minutes(took)} ({self.done / took:.2f}/s):"
            f" {self.done - self.failed} passed, {failed} failed, {self.unstable} timed badly",
            err=True,
        )


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < _MINUTES_FROM else f"{seconds / 60:.0f} min"


def _joined(trajectory: Trajectory, other: Trajectory | None) -> Trajectory:
    """A trajectory with the measurements of its other copy, too."""
    if other is None:
        return trajectory
    steps = tuple(
        step.model_copy(
            update={
                "measurements": tuple(
                    {m.key: m for m in (*step.measurements, *copy.measurements)}.values()
                )
            }
        )
        for step, copy in zip(trajectory.steps, other.steps, strict=True)
    )
    return trajectory.model_copy(update={"steps": steps})


def read_trajectories(path: Path) -> list[Trajectory]:
    with file_errors(path, "give a file of trajectories"), path.open("rb") as file:
        return [trajectory for _, trajectory in jsonl.parsed(path, file, Trajectory)]


def _figures(measurement: Measurement) -> str:
    if not measurement.speedup:
        return f"{measurement.outcome:>23}"
    effect = times(measurement.effect) if measurement.effect else "?"
    return f"{times(measurement.speedup):>8}, step {effect:>8}"
