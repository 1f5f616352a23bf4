"""Lessons of finished runs, merged into the graph by the usual ingest.

Not here: the rules of a lesson (search/harvest.py); the merge of a trajectory (ingest/).
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, PlainSerializer

from regraph_kg import atomic
from regraph_kg.errors import BadInput, ToolError, file_errors
from regraph_kg.evaluation import evaluate
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.evaluation import Candidate, EvalReport
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.runs.ingest import grow
from regraph_kg.runs.progress import Story, WorkDone
from regraph_kg.search.claims import claimed_codes, measured_again, stale
from regraph_kg.search.harvest import (
    Harvest,
    check_serial,
    harvest,
    refuse,
)
from regraph_kg.search.run_record import RunRecord
from regraph_kg.settings import Settings
from regraph_kg.wiring.judges import open_judge
from regraph_kg.wiring.key import trace_key
from regraph_kg.wiring.problems import declared_problem
from regraph_kg.wiring.shipped import problem_names


@dataclass(frozen=True, slots=True)
class Lesson:
    """The lesson of one run; as JSON its trajectories are their number."""

    __pydantic_config__ = ConfigDict(json_schema_serialization_defaults_required=True)

    run: Path
    trajectories: Annotated[tuple[Trajectory, ...], PlainSerializer(len, int)] = ()
    steps: int = 0
    """Verified steps, each once."""
    failures: int = 0
    declined: int = 0
    """Steps that the model declined."""
    judged_again: int = 0
    """Codes that this command judged again."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Number of unused steps by reason."""
    refused: str | None = None
    """Why there is none."""

    @property
    def taught(self) -> bool:
        """Whether it has anything for the graph."""
        return bool(self.trajectories)


@dataclass(frozen=True, slots=True)
class Learned:
    """The lessons of all runs; `added` are new in the graph, `known` were there already."""

    __pydantic_config__ = ConfigDict(json_schema_serialization_defaults_required=True)

    runs: tuple[Lesson, ...]
    added: int = 0
    known: int = 0
    rejected: int = 0

    @property
    def trajectories(self) -> tuple[Trajectory, ...]:
        return tuple(trajectory for lesson in self.runs for trajectory in lesson.trajectories)

    @property
    def taught(self) -> bool:
        """Whether any run taught anything."""
        return any(lesson.taught for lesson in self.runs)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Which traces are judged again before they teach; by default those of others."""

    again: bool = False
    """Every trace."""
    trust: bool = False
    """None."""
    dry: bool = False
    """Judge nothing; only say what would be judged, and what the trace claims."""

    def of(self, run: RunRecord) -> bool:
        """Whether the verdicts of `run` are doubted."""
        return self.again or not (run.ours or self.trust)


def learn_from(
    settings: Settings,
    runs: Sequence[Path],
    *,
    problems: Sequence[Path] = (),
    doubt: Doubt = Doubt(),
) -> Story[Learned]:
    """Teach the settings' graph what the traces `runs` hold.

    Their problems are those of the corpus and those in the folders `problems`. `BadInput` for a
    file that is no trace, before anything is written; a refused run is in the result. A dry run
    shows the claims of doubted traces.
    """
    key = trace_key(settings)
    records = {path: RunRecord.read(path, key) for path in dict.fromkeys(runs)}
    lessons: list[Lesson] = []
    for path, run in records.items():
        lessons.append((yield from _lesson(settings, path, run, problems, doubt)))
    learned = Learned(tuple(lessons))
    if doubt.dry or not learned.taught:
        return learned
    return (yield from _merged(settings, learned))


def _lesson(
    settings: Settings, path: Path, run: RunRecord, problems: Sequence[Path], doubt: Doubt
) -> Story[Lesson]:
    doubted = doubt.of(run)
    try:
        refuse(run)
        problem = _problem(settings, run, problems)
        if doubted:
            run = yield from _judged(settings, path, run, problem, dry=doubt.dry)
        elif (version := stale(run, evaluate.EVALUATOR)) is not None:
            raise BadInput(
                f"its judge was version {version}, this one is {evaluate.EVALUATOR}, and their"
                " figures are not compared: have its codes judged again with --again"
            )
        result = harvest(run, problem.serial_code)
    except (BadInput, ToolError) as error:
        return Lesson(path, refused=str(error).removeprefix(f"run {run.id}: "))
    again = len(claimed_codes(run)) if doubted and not doubt.dry else 0
    if not result.trajectories:
        return Lesson(path, left_out=result.left_out, refused=_nothing(result), judged_again=again)
    return Lesson(
        path,
        result.trajectories,
        result.steps,
        result.failures,
        result.declined,
        again,
        result.left_out,
    )


def _judged(
    settings: Settings, path: Path, run: RunRecord, problem: Problem, *, dry: bool
) -> Story[RunRecord]:
    """The run with every code judged again on this machine, and a line that says so.

    `dry`: the run as it is, and only the line.
    Raises `BadInput` for other serial code than the run began with, `ToolError` where the machine
    cannot judge it.
    """
    check_serial(run, problem.serial_code)
    codes = claimed_codes(run)
    why = "" if run.ours else " was not written by this installation"
    does = "would judge" if dry else "judging"
    message = f"{path}{why}: {does} its {len(codes)} codes again, here"
    yield WorkDone("judging", 0, len(codes), "judging", line=message)
    if dry:
        return run
    reports: dict[str, EvalReport] = {}
    with open_judge(settings) as judge:
        for code in codes:
            reports[code] = judge.evaluate(Candidate(run.header.target, code), problem)
            yield WorkDone("judging", len(reports), len(codes), "judging")
        device = judge.device(run.header.target)
    return measured_again(run, device, lambda candidate: reports[candidate.code])


def _nothing(harvested: Harvest) -> str:
    left_out = ", ".join(f"{count} {reason}" for reason, count in harvested.left_out.items())
    return "no verified step" + (f" ({left_out})" if left_out else "")


def _problem(settings: Settings, run: RunRecord, problems: Sequence[Path]) -> Problem:
    """The run's problem, from the given folders or the corpus."""
    name = run.header.problem
    candidates = [declared_problem(settings, str(folder)) for folder in problems]
    for problem in candidates:
        if problem.name == name:
            return problem
    if name in problem_names(settings):
        return declared_problem(settings, name)
    raise BadInput(
        f"its problem {name} is not here, and not in the corpus: name its folder with --problem"
    )


def _merged(settings: Settings, learned: Learned) -> Story[Learned]:
    """Merge the harvested trajectories; their techniques are ids."""
    lines = io.BytesIO(lines_of(learned.trajectories).encode())
    counts = yield from grow(settings, lines, "exact", "learning")
    return Learned(learned.runs, counts["added"], counts["known"], counts["rejected"])


def lines_of(trajectories: Sequence[Trajectory]) -> str:
    """Trajectories as JSONL."""
    return "".join(trajectory.line() for trajectory in trajectories)


def write_lines(path: Path, trajectories: Sequence[Trajectory]) -> None:
    """Replace a file of trajectories as a whole: it is never half-written."""
    with file_errors(path, "free space, or choose another place", ToolError):
        atomic.write(path, lines_of(trajectories), mode=0o666)
