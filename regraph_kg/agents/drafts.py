"""An agent's own steps as a trajectory: judged one by one, kept in a file, then into the graph.

A draft is the file runs/agents/ID.json of the project; what failed on the way is in it, too.
"""

import io
import secrets
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.measure import measurement
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.base import Frozen
from regraph_kg.models.evaluation import EvalReport, Outcome
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Vocabulary
from regraph_kg.models.text import plain
from regraph_kg.models.trajectory import FailedStep, Source, Step, Trajectory
from regraph_kg.private import make_folder, opener
from regraph_kg.runs.ingest import grow
from regraph_kg.runs.learn import lines_of
from regraph_kg.runs.progress import outcome
from regraph_kg.search.code.applied import deed
from regraph_kg.settings import Settings

FOLDER = Path("runs") / "agents"
LONGEST_NAME = 100
_RIGHT = (Outcome.PASSED, Outcome.UNSTABLE_TIMING)


class Author(Frozen):
    """Whose steps they are."""

    agent: str
    """The program."""
    model: str


class AgentDraft(Frozen):
    """The steps of one agent on one problem so far."""

    id: str
    created: str
    author: Author
    problem: str
    target: Target
    serial: str
    steps: tuple[Step, ...] = ()
    failures: tuple[FailedStep, ...] = ()

    @property
    def run(self) -> str:
        """What its measurements are called."""
        return f"{self.created} agent {self.author.agent} {self.id}"

    @property
    def code(self) -> str:
        """What the next step begins with."""
        return self.steps[-1].code if self.steps else self.serial

    def with_step(self, step: Step, report: EvalReport) -> "AgentDraft":
        """What it is after a step that was judged: one step more, or one failure."""
        if report.outcome not in _RIGHT:
            failed = FailedStep(
                after_step=len(self.steps),
                label=step.label,
                outcome=report.outcome,
                diagnosis=report.diagnosis,
                code_hash=report.code_hash,
                code=step.code,
                device=report.device,
            )
            return self.model_copy(update={"failures": (*self.failures, failed)})
        measured = measurement(report, self.run, self._before(report))
        made = step.model_copy(update={"measurements": (measured,)})
        return self.model_copy(update={"steps": (*self.steps, made)})

    def trajectory(self) -> Trajectory:
        """What the graph is told; `BadInput` where no step was right."""
        if not self.steps:
            raise BadInput("nothing to add to the graph: no step of it was right yet")
        model = f"{self.author.model} ({self.author.agent})"
        return Trajectory(
            schema=1,
            target=self.target,
            problem=self.problem,
            serial=self.serial,
            source=Source(model=model, run=self.run, created=self.created, learned=True),
            steps=self.steps,
            failures=self.failures,
        )

    def _before(self, report: EvalReport) -> float | None:
        """Seconds of the code before, on the clock of this report's serial code."""
        serial = report.baseline.median if report.baseline else None
        if serial is None or not self.steps:
            return serial
        speedup = self.steps[-1].measurements[0].speedup
        return serial / speedup if speedup else None


def begin(problem: Problem, target: Target, author: Author) -> AgentDraft:
    """A draft without a step."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    told = Author(agent=_name(author.agent, "agent"), model=_name(author.model, "model"))
    return AgentDraft(
        id=secrets.token_hex(6),
        created=now,
        author=told,
        problem=problem.name,
        target=target,
        serial=problem.serial_code,
    )


def step(technique: str, reasoning: str, code: str) -> Step:
    """What an agent says that it did; `BadInput` where that is no step."""
    try:
        return Step(label=_name(technique, "technique"), reasoning=reasoning, code=code)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def known_as(technique: str, draft: AgentDraft, code: str, vocabulary: Vocabulary) -> str:
    """The id of what an agent says that the step to `code` did; "" where nothing has that name.

    `BadInput` where the code shows no sign of it.
    """
    found = vocabulary.find(technique, draft.target)
    if found is None:
        return ""
    others = [one.id for one in vocabulary.known.values() if one.target == draft.target]
    done = deed(found.technique, draft.code, code, others)
    if done.applied == "nothing":
        raise BadInput("the code differs from the one before in names and comments only")
    if done.applied == "other":
        raise BadInput(
            f"the code shows no sign of {found.technique}, perhaps of"
            f" {done.technique or 'another technique'}: name what the step did"
        )
    return found.technique


def read(root: Path, id_: str) -> AgentDraft:
    """A draft of the project; `BadInput` where there is none of this id."""
    if not id_.isalnum():
        raise BadInput(f"trajectory {id_[:50]!r}: no such one; give the id that record_step told")
    path = root / FOLDER / f"{id_}.json"
    try:
        return AgentDraft.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise BadInput(f"trajectory {id_[:50]!r}: not in {FOLDER}/ of the project") from None
    except (OSError, ValidationError):
        raise BadInput(f"{path}: cannot be read; begin a new trajectory") from None


def write(root: Path, draft: AgentDraft) -> Path:
    """Keep a draft, whole or not at all."""
    make_folder(root / FOLDER)
    path = root / FOLDER / f"{draft.id}.json"
    new = path.with_suffix(".new")
    with open(new, "w", encoding="utf-8", opener=opener) as file:
        file.write(draft.model_dump_json(by_alias=True))
    new.replace(path)
    return path


def add_to_graph(settings: Settings, draft: AgentDraft) -> dict[str, int]:
    """Merge a draft as any trajectory is merged; how many were added and known."""
    lines = io.BytesIO(lines_of([draft.trajectory()]).encode())
    counts = outcome(grow(settings, lines, "lexical", "recording"))
    return {name: counts[name] for name in ("added", "known", "rejected")}


def _name(said: str, what: str) -> str:
    """A name that can stand in a line."""
    name = " ".join(plain(said).split())[:LONGEST_NAME]
    if not name:
        raise BadInput(f"{what}: there is no name in it; say who takes the step")
    return name
