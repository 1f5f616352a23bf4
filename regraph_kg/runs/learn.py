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
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.runs.ingest import grow
from regraph_kg.runs.progress import Story
from regraph_kg.search.harvest import (
    Harvest,
    harvest,
    refuse,
)
from regraph_kg.search.run_record import RunRecord
from regraph_kg.settings import Settings
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
    return (yield from _merged(settings, learned))


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
        return Lesson(path, left_out=result.left_out, refused=_nothing(result))
    return Lesson(
        path,
        result.trajectories,
        result.steps,
        result.failures,
        result.declined,
        result.left_out,
    )


def _nothing(harvested: Harvest) -> str:
    left_out = ", ".join(f"{count} {reason}" for reason, count in harvested.left_out.items())
    return "no verified step" + (f" ({left_out})" if left_out else "")


def _problem(settings: Settings, run: RunRecord, problems: Sequence[Path]) -> Problem:
    """The run's problem, from the given folders or the corpus."""
    name = run.header.problem
    candidates = [declared_problem(settings, str(folder)) for folder in problems]
    # a folder that was named wins over a problem of the corpus
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
    # by the front door: a lesson is judged by the same rules as anybody's file
    counts = yield from grow(settings, lines, "exact", "learning")
    return Learned(learned.runs, counts["added"], counts["known"], counts["rejected"])


def lines_of(trajectories: Sequence[Trajectory]) -> str:
    """Trajectories as JSONL."""
    return "".join(trajectory.line() for trajectory in trajectories)


def write_lines(path: Path, trajectories: Sequence[Trajectory]) -> None:
    """Replace a file of trajectories as a whole: it is never half-written."""
    with file_errors(path, "free space, or choose another place", ToolError):
        atomic.write(path, lines_of(trajectories), mode=0o666)
