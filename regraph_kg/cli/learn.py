"""`regraph learn`: what finished runs taught, into the graph by its front door.

Not here: what a run may teach (search/harvest.py),
and how a trajectory gets into a graph (ingest/).
"""

import io
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.growing import grow
from regraph_kg.cli.progress import bar
from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.evaluate import EVALUATOR
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.evaluation import Candidate, EvalReport
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.search.claims import claimed, measured_again, stale
from regraph_kg.search.harvest import Harvest, Run, check_serial, harvest, read_run, refuse
from regraph_kg.settings import Settings, read_settings


@dataclass(frozen=True, slots=True)
class Lesson:
    """What became of one run; `refused` says why it taught nothing, and is empty otherwise."""

    run: Path
    trajectories: tuple[Trajectory, ...] = ()
    steps: int = 0
    """Verified ones, each once."""
    failures: int = 0
    left_out: Mapping[str, int] | None = None
    """Steps of which nothing is said, by reason."""
    refused: str = ""
    measured: int = 0
    """Codes that were judged again, here and now."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What became of all runs; in the graph are `added`, and `known` were there already."""

    lessons: tuple[Lesson, ...]
    added: int = 0
    known: int = 0
    rejected: int = 0

    @property
    def trajectories(self) -> tuple[Trajectory, ...]:
        """Of all runs."""
        return tuple(one for lesson in self.lessons for one in lesson.trajectories)


@dataclass(frozen=True, slots=True)
class Doubt:
    """What is judged anew before it teaches: traces of others, unless told otherwise."""

    again: bool = False
    """Every trace."""
    trust: bool = False
    """None."""
    dry: bool = False
    """Nothing is judged: it is only said what would be, and what is claimed."""

    def of(self, run: Run) -> bool:
        """Whether the verdicts of `run` are doubted."""
        return self.again or not (run.ours or self.trust)


def learn(  # noqa: PLR0913 (a command's options)
    *,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Traces of finished runs.")],
    problem: Annotated[
        list[Path] | None,
        typer.Option(help="Folder of a run's problem that is not in the corpus."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be learned.")
    ] = False,
    export: Annotated[
        Path | None, typer.Option(help="Also write the trajectories here, one JSON a line.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Judge every code again, also of this installation's.")
    ] = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Believe the verdicts in traces of others.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """Teach the graph what finished RUNs of `regraph optimize` found: their verified paths.

    One trajectory for each verified path that was not extended, with what failed along it, marked
    as learned from the run's model. Learned examples stand below given ones, and no model's weigh
    more than the rest on a transition. The same run taught twice adds nothing.

    A trace that this installation did not write, or that was changed, is a claim: each of its codes
    is judged again on this machine first. So are those of an older judge with --again.

    Refused: runs of a recorded model or judge, runs that read their own problem's examples
    (--include-own), runs that have not ended, and figures of an older judge. What was timed while
    the machine did other work is left out.

    Exit code 0: something was learned or known already; 1: no run taught anything.
    """
    doubt = Doubt(again, trust, dry_run)
    learned = learn_from(read_settings(), runs, problems=problem or (), doubt=doubt)
    if export is not None:
        _write(export, learned.trajectories)
    typer.echo(json.dumps(_plain(learned), indent=2) if as_json else _table(learned))
    if not learned.trajectories:
        raise typer.Exit(1)


def learn_from(
    settings: Settings,
    runs: Sequence[Path],
    *,
    problems: Sequence[Path] = (),
    doubt: Doubt = Doubt(),
) -> Learned:
    """Teach the settings' graph what the traces `runs` hold.

    Their problems are those of the corpus and those in the folders `problems`. `BadInput` for a
    file that is no trace, before anything is written; a run that must not teach is in the result.
    A dry run tells what doubted traces claim.
    """
    key = wiring.trace_key(settings)
    read = {path: read_run(path, key) for path in dict.fromkeys(runs)}
    lessons = tuple(_lesson(settings, path, run, problems, doubt) for path, run in read.items())
    learned = Learned(lessons)
    if doubt.dry or not learned.trajectories:
        return learned
    return _merged(settings, learned)


def _lesson(
    settings: Settings, path: Path, run: Run, problems: Sequence[Path], doubt: Doubt
) -> Lesson:
    doubted = doubt.of(run)
    try:
        refuse(run)
        problem = _problem(settings, run, problems)
        if doubted:
            run = _judged(settings, path, run, problem, dry=doubt.dry)
        elif (version := stale(run, EVALUATOR)) is not None:
            raise BadInput(
                f"its judge was version {version}, this one is {EVALUATOR}, and their figures are"
                " not compared: have its codes judged again with --again"
            )
        found = harvest(run, problem.serial_code)
    except (BadInput, ToolError) as error:
        return Lesson(path, refused=str(error).removeprefix(f"run {run.id}: "))
    measured = len(claimed(run)) if doubted and not doubt.dry else 0
    if not found.trajectories:
        return Lesson(path, left_out=found.left_out, refused=_nothing(found), measured=measured)
    return Lesson(
        path, found.trajectories, found.steps, found.failures, found.left_out, measured=measured
    )


def _judged(settings: Settings, path: Path, run: Run, problem: Problem, *, dry: bool) -> Run:
    """The run with every code judged again on this machine; says that it does so.

    `dry`: as it is, and only says so.
    Raises `BadInput` for other serial code than the run began with, `ToolError` where the machine
    cannot judge it.
    """
    check_serial(run, problem.serial_code)
    codes = len(claimed(run))
    why = "" if run.ours else " was not written by this installation"
    does = "would judge" if dry else "judging"
    typer.echo(f"{path}{why}: {does} its {codes} codes again, here", err=True)
    if dry:
        return run
    with wiring.open_judge(settings) as judge, bar("judging", codes) as show:
        done = itertools.count(1)

        def judged(candidate: Candidate) -> EvalReport:
            report = judge.evaluate(candidate, problem)
            show(next(done), "judging")
            return report

        return measured_again(run, judge.device(run.header.target), judged)


def _nothing(found: Harvest) -> str:
    left_out = ", ".join(f"{count} {reason}" for reason, count in found.left_out.items())
    return "no verified step" + (f" ({left_out})" if left_out else "")


def _problem(settings: Settings, run: Run, problems: Sequence[Path]) -> Problem:
    """The problem that the run is about, wherever it is found."""
    name = run.header.problem
    found = [wiring.find_problem(settings, str(folder)) for folder in problems]
    for one in found:
        if one.name == name:
            return one
    if name in wiring.problem_names(settings):
        return wiring.find_problem(settings, name)
    raise BadInput(
        f"its problem {name} is not here, and not in the corpus: name its folder with --problem"
    )


def _merged(settings: Settings, learned: Learned) -> Learned:
    """Merge what was harvested; its techniques are given by id."""
    totals = grow(settings, io.BytesIO(_text(learned.trajectories).encode()), "exact", "learning")
    return Learned(learned.lessons, totals["added"], totals["known"], totals["rejected"])


def _text(trajectories: Sequence[Trajectory]) -> str:
    return "".join(
        one.model_dump_json(by_alias=True, exclude_defaults=True) + "\n" for one in trajectories
    )


def _write(path: Path, trajectories: Sequence[Trajectory]) -> None:
    try:
        path.write_text(_text(trajectories), encoding="utf-8")
    except OSError as error:
        raise ToolError(f"{path}: {error.strerror}; choose another place: --export") from None


def _table(learned: Learned) -> str:
    lines = [f"{'trajectories':>12} {'steps':>7} {'failures':>9}  run"]
    for one in learned.lessons:
        counts = f"{len(one.trajectories):>12} {one.steps:>7} {one.failures:>9}  {one.run.name}"
        lines.append(counts)
        if one.measured:
            lines.append(f"{'':>31}judged again here: {one.measured} codes")
        if one.refused:
            lines.append(f"{'':>31}refused: {one.refused}")
        for reason, count in (one.left_out or {}).items():
            if not one.refused:
                lines.append(f"{'':>31}left out: {count} steps, {reason}")
    if learned.added or learned.known or learned.rejected:
        lines.append(
            f"in the graph: {learned.added} trajectories added, {learned.known} known already,"
            f" {learned.rejected} rejected"
        )
    return "\n".join(lines)


def _plain(learned: Learned) -> dict[str, object]:
    runs = [
        {
            "run": str(one.run),
            "trajectories": len(one.trajectories),
            "steps": one.steps,
            "failures": one.failures,
            "judged_again": one.measured,
            "left_out": dict(one.left_out or {}),
            "refused": one.refused or None,
        }
        for one in learned.lessons
    ]
    counts = {"added": learned.added, "known": learned.known, "rejected": learned.rejected}
    return {"runs": runs, **counts}
