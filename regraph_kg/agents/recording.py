"""An agent's own steps as a trajectory: a line of JSON for `regraph ingest`, failed steps too.

A trajectory grows while the server lives, and its file is written anew with each step: what was
measured is told by this process, never read back from a folder that the agent may write.
"""

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from regraph_kg.errors import BadInput, first_mistake
from regraph_kg.evaluation.measure import measurement
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.evaluation import EvalReport
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.models.text import plain
from regraph_kg.models.trajectory import FailedStep, Source, Step, Trajectory
from regraph_kg.private import make_folder
from regraph_kg.runs.learn import write_lines

FOLDER = Path("runs") / "agents"
LONGEST_NAME = 100


@dataclass(slots=True)
class AgentSteps:
    """The steps of one agent on one problem so far."""

    problem: Problem
    target: Target
    author: str  # model and program, as the graph names whom it learned from
    created: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    steps: list[Step] = field(default_factory=list)
    failures: list[FailedStep] = field(default_factory=list)

    @property
    def code(self) -> str:
        """The code that the next step changes."""
        return self.steps[-1].code if self.steps else self.problem.serial_code

    def step(self, technique: str, reasoning: str, code: str) -> Step:
        """An agent's step before it is judged; `BadInput` where it is none."""
        other = technique.strip().partition("/")[0]
        # else the graph would take it for a new technique of this target
        if other in TARGETS and other != self.target:
            raise BadInput(
                f"technique {technique[:100]!r} is of {other}, and the step for {self.target}"
            )
        if code == self.code:
            raise BadInput("the code is as it was before this step: give the code after it")
        try:
            return Step(label=name_of(technique, "technique"), reasoning=reasoning, code=code)
        except ValidationError as error:
            raise BadInput(first_mistake(error)) from None

    def add(self, step: Step, report: EvalReport) -> None:
        """Add a judged step: one more step, or one more failure."""
        if report.outcome.is_right:
            # the first step's effect is its speedup: what it changes is the serial code
            measured = measurement(report, self._run, self._before(report), first=not self.steps)
            self.steps.append(step.model_copy(update={"measurements": (measured,)}))
            return
        failed = FailedStep(
            after_step=len(self.steps),
            label=step.label,
            outcome=report.outcome,
            diagnosis=report.diagnosis,
            code_hash=report.code_hash,
            code=step.code,
            device=report.device,
        )
        self.failures.append(failed)

    def refuse_unlike(self, other: "AgentSteps") -> None:
        """Raise `BadInput` where `other` begins with something else."""
        mine = (self.problem.name, self.problem.serial_code, self.target)
        if mine != (other.problem.name, other.problem.serial_code, other.target):
            raise BadInput(
                f"trajectory {self.id} is of {self.problem.name} ({self.target}) with the serial"
                " code that it had: begin another one"
            )

    def write(self, folder: Path) -> Path | None:
        """Write the trajectory into `folder`; None where no step is right yet."""
        if not self.steps:
            return None
        make_folder(folder)
        path = folder / f"{self.id}.jsonl"
        # learned: nobody gave it, and it ranks below what was given
        source = Source(model=self.author, run=self._run, created=self.created, learned=True)
        trajectory = Trajectory(
            schema=1,
            target=self.target,
            problem=self.problem.name,
            serial=self.problem.serial_code,
            source=source,
            steps=tuple(self.steps),
            failures=tuple(self.failures),
        )
        # whole each time: a kill leaves the last step's file
        write_lines(path, [trajectory])
        return path

    @property
    def _run(self) -> str:
        return f"{self.created} agent {self.id}"

    def _before(self, report: EvalReport) -> float | None:
        """Seconds of the code before, on the clock of this report's serial code."""
        serial = report.baseline.median if report.baseline else None
        if serial is None or not self.steps:
            return serial
        speedup = self.steps[-1].measurements[0].speedup
        # times of two questions differ in the machine's state, their ratios to the serial code less
        return serial / speedup if speedup else None


def name_of(text: str, what: str) -> str:
    """A name that fits in a line."""
    name = " ".join(plain(text).split())[:LONGEST_NAME]
    if not name:
        raise BadInput(f"{what}: there is no name in it; say who takes the step")
    return name
