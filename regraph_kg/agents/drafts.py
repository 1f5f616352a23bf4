"""An agent's own steps as a trajectory: judged one by one, kept, then into the graph.

It includes failed steps. Not here: the storage of drafts (draft_folder.py).
"""

import io
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from pydantic import ValidationError

from regraph_kg.errors import BadInput, first_mistake
from regraph_kg.evaluation.measure import measurement
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.ingest.cascade import Cascade
from regraph_kg.models.base import Frozen
from regraph_kg.models.evaluation import EvalReport
from regraph_kg.models.graph import RelabelLevel
from regraph_kg.models.run import Deed
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.models.technique import Technique
from regraph_kg.models.text import plain
from regraph_kg.models.trajectory import FailedStep, Source, Step, Trajectory
from regraph_kg.runs.ingest import grow
from regraph_kg.runs.learn import lines_of
from regraph_kg.runs.progress import outcome
from regraph_kg.search.fit.applied import deed
from regraph_kg.settings import Settings

LONGEST_NAME = 100
LEVEL: RelabelLevel = "lexical"
"""Level of the relabelling."""


class Author(Frozen):
    """The author of the steps."""

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
        """Name of its measurements."""
        return f"{self.created} agent {self.author.agent} {self.id}"

    @property
    def code(self) -> str:
        """The code that the next step changes."""
        return self.steps[-1].code if self.steps else self.serial

    def with_step(self, step: Step, report: EvalReport) -> "AgentDraft":
        """The draft after a judged step: one more step, or one more failure."""
        if not report.outcome.is_right:
            failed = FailedStep(
                after_step=len(self.steps),
                label=step.label,
                technique=step.technique,
                outcome=report.outcome,
                diagnosis=report.diagnosis,
                code_hash=report.code_hash,
                code=step.code,
                device=report.device,
            )
            return self.model_copy(update={"failures": (*self.failures, failed)})
        measured = measurement(report, self.run, self._before(report))
        measured_step = step.model_copy(update={"measurements": (measured,)})
        return self.model_copy(update={"steps": (*self.steps, measured_step)})

    def trajectory(self) -> Trajectory:
        """The trajectory for the graph; `BadInput` where no step was right."""
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

    def refuse_unlike(self, other: "AgentDraft") -> None:
        """Raise `BadInput` where it begins with something else than `other` does."""
        if (self.problem, self.target) != (other.problem, other.target):
            raise BadInput(
                f"trajectory {self.id} is of {self.problem} ({self.target}): begin another one"
            )
        if self.serial != other.serial:
            raise BadInput(
                f"trajectory {self.id} began with other serial code of {self.problem}: begin"
                " another one"
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
    signed = Author(agent=_name(author.agent, "agent"), model=_name(author.model, "model"))
    return AgentDraft(
        id=secrets.token_hex(6),
        created=now,
        author=signed,
        problem=problem.name,
        target=target,
        serial=problem.serial_code,
    )


def step(technique: str, reasoning: str, code: str, target: Target) -> Step:
    """An agent's step; `BadInput` where it is no step for `target`."""
    other = technique.strip().partition("/")[0]
    if other in TARGETS and other != target:
        raise BadInput(f"technique {technique[:100]!r} is of {other}, and the step for {target}")
    try:
        return Step(label=_name(technique, "technique"), reasoning=reasoning, code=code)
    except ValidationError as error:
        raise BadInput(first_mistake(error)) from None


def named(step: Step, draft: AgentDraft, cascade: Cascade) -> Step:
    """The step with the ids of the techniques that its name means.

    Where the name is new, it is the one technique that the code shows, or none. They are decided
    once, by the `cascade` of the ingest, and the graph is told them. `BadInput` where the code
    shows no sign of one of them.
    """
    alone = draft.model_copy(update={"steps": (step,), "failures": ()}).trajectory()
    (label,) = cascade.relabel(alone).steps
    known = cascade.vocabulary.known
    candidates = [technique for technique in known.values() if technique.target == draft.target]
    if label.technique not in known:
        change = _change(None, draft, step.code, candidates)
        return step.model_copy(update={"technique": change.technique})
    for technique in (label.technique, *label.also):
        change = _change(known[technique], draft, step.code, candidates)
        if change.applied == "other":
            raise BadInput(
                f"the code shows no sign of {technique}, perhaps of"
                f" {change.technique or 'another technique'}: name what the step did"
            )
    return step.model_copy(update={"technique": label.technique, "also": label.also})


def technique_names(step: Step) -> str:
    """The names of a `named` step in the graph."""
    if step.technique is None:
        return f"{step.label} (new to the graph)"
    return ", ".join((step.technique, *step.also))


def _change(
    technique: Technique | None, draft: AgentDraft, code: str, candidates: Sequence[Technique]
) -> Deed:
    """The change that a step's code shows; `BadInput` for none."""
    change = deed(technique, draft.code, code, candidates)
    if change.applied == "nothing":
        raise BadInput("the code differs from the one before in names and comments only")
    return change


def add_to_graph(settings: Settings, draft: AgentDraft) -> dict[str, int]:
    """Merge a draft like any trajectory; counts of added, known and rejected ones."""
    lines = io.BytesIO(lines_of([draft.trajectory()]).encode())
    counts = outcome(grow(settings, lines, LEVEL, "recording"))
    return {name: counts[name] for name in ("added", "known", "rejected")}


def _name(text: str, what: str) -> str:
    """A name that fits in a line."""
    name = " ".join(plain(text).split())[:LONGEST_NAME]
    if not name:
        raise BadInput(f"{what}: there is no name in it; say who takes the step")
    return name
