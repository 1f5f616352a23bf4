"""Lessons of finished runs, merged into the graph by the usual ingest."""

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
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.runs.ingest import grow
from regraph_kg.runs.progress import Story
from regraph_kg.search.harvest import harvest, refuse
from regraph_kg.search.run_record import RunRecord
from regraph_kg.settings import Settings
from regraph_kg.wiring.key import trace_key
from regraph_kg.wiring.problems import find_problem
from regraph_kg.wiring.shipped import problem_names


@dataclass(frozen=True, slots=True)
class Lesson:
    """The lesson of one run; as JSON its trajectories are their number."""

    __pydantic_config__ = ConfigDict(json_schema_serialization_defaults_required=True)

    run: Path
    trajectories: Annotated[tuple[Trajectory, ...], PlainSerializer(len, int)] = ()
    steps: int = 0  # verified steps, each once
    failures: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)  # number of unused steps by reason
    refused: str | None = None  # why there is none

    def __str__(self) -> str:
        counts = f"{len(self.trajectories):>12} {self.steps:>7} {self.failures:>9}"
        lines = [f"{counts}  {self.run.name}"]
        if self.refused:
            lines.append(f"{'':>31}refused: {self.refused}")
        else:
            told = (f"{count} steps, {reason}" for reason, count in self.left_out.items())
            lines += [f"{'':>31}left out: {one}" for one in told]
        return "\n".join(lines)


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
        return any(lesson.trajectories for lesson in self.runs)

    def __str__(self) -> str:
        head = f"{'trajectories':>12} {'steps':>7} {'failures':>9}  run"
        lines = [head, *map(str, self.runs)]
        if self.added or self.known or self.rejected:
            lines.append(
                f"in the graph: {self.added} trajectories added, {self.known} known already,"
                f" {self.rejected} rejected"
            )
        return "\n".join(lines)


def learn_from(
    settings: Settings,
    runs: Sequence[Path],
    *,
    problems: Sequence[Path] = (),
    trust: bool = False,
    dry: bool = False,
) -> Story[Learned]:
    """Teach the settings' graph what the traces `runs` hold; `dry`: only say what that would be.

    Their problems are those of the corpus and those in the folders `problems`. `trust`: traces of
    other installations are believed. `BadInput` for a file that is no trace, before anything is
    written; a refused run is in the result.
    """
    # all are read before anything is written: a file that is no trace stops the command
    key = trace_key(settings)
    records = {path: RunRecord.read(path, key) for path in dict.fromkeys(runs)}
    lessons = [_lesson(settings, path, run, problems, trust=trust) for path, run in records.items()]
    learned = Learned(tuple(lessons))
    if dry or not learned.taught:
        return learned
    lines = io.BytesIO("".join(one.line() for one in learned.trajectories).encode())
    # by the front door: a lesson is judged by the same rules as anybody's file
    counts = yield from grow(settings, lines)
    return Learned(learned.runs, counts.added, counts.known, counts.rejected)


def _lesson(
    settings: Settings, path: Path, run: RunRecord, problems: Sequence[Path], *, trust: bool
) -> Lesson:
    try:
        # one refused run must not keep the others from teaching
        refuse(run, trust=trust, judge=evaluate.EVALUATOR)
        result = harvest(run, _problem(settings, run, problems).serial_code)
    except BadInput as error:
        return Lesson(path, refused=str(error).removeprefix(f"run {run.id}: "))
    if not result.trajectories:
        left_out = ", ".join(f"{count} {reason}" for reason, count in result.left_out.items())
        refused = "no verified step" + (f" ({left_out})" if left_out else "")
        return Lesson(path, left_out=result.left_out, refused=refused)
    return Lesson(path, result.trajectories, result.steps, result.failures, result.left_out)


def _problem(settings: Settings, run: RunRecord, problems: Sequence[Path]) -> Problem:
    """The run's problem, from the given folders or the corpus."""
    name = run.header.problem
    candidates = [find_problem(settings, str(folder)) for folder in problems]
    # a folder that was named wins over a problem of the corpus
    for problem in candidates:
        if problem.name == name:
            return problem
    if name in problem_names(settings):
        return find_problem(settings, name)
    raise BadInput(
        f"its problem {name} is not here, and not in the corpus: name its folder with --problem"
    )


def write_lines(path: Path, trajectories: Sequence[Trajectory]) -> None:
    """Replace a file of trajectories as a whole: it is never half-written."""
    with file_errors(path, "free space, or choose another place", ToolError):
        atomic.write(path, "".join(one.line() for one in trajectories), mode=0o666)
