"""An agent's own steps as a trajectory: a line of JSON for `regraph ingest`, failed steps too.

A trajectory grows while the server lives, and its file is written anew with each step: what was
measured is told by this process, never read back from a folder that the agent may write.
"""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from regraph_kg.collect.judged_steps import TrajectoryDraft, label_of
from regraph_kg.errors import BadInput, first_mistake
from regraph_kg.evaluation.measure import measurement
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.evaluation import EvalReport
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.models.trajectory import Source, Step
from regraph_kg.private import make_folder
from regraph_kg.runs.learn import write_lines

FOLDER = Path("runs") / "agents"


@dataclass(slots=True)
class AgentSteps(TrajectoryDraft):
    id: str = ""

    def step(self, technique: str, reasoning: str, code: str) -> Step:
        """An agent's step before it is judged; `BadInput` where it is none."""
        other = technique.strip().partition("/")[0]
        # else the graph would take it for a new technique of this target
        if other in TARGETS and other != self.target:
            raise BadInput(
                f"technique {technique[:100]!r} is of {other}, and the step for {self.target}"
            )
        if code == self.codes[-1]:
            raise BadInput("the code is as it was before this step: give the code after it")
        try:
            return Step(label=name_of(technique, "technique"), reasoning=reasoning, code=code)
        except ValidationError as error:
            raise BadInput(first_mistake(error)) from None

    def measured(self, step: Step, report: EvalReport) -> Step:
        """The step with what its report measured."""
        # seconds of the code before, on the clock of this report's serial code
        before = report.baseline.median if report.baseline else None
        if before and self.steps:
            speedup = self.steps[-1].measurements[0].speedup
            # times of two questions differ in the machine's state, their ratios to the serial
            # code less
            before = before / speedup if speedup else None
        # the first step's effect is its speedup: what it changes is the serial code
        new = measurement(report, self.source.run, before, first=not self.steps)
        return step.model_copy(update={"measurements": (new,)})

    def refuse_unlike(self, other: "AgentSteps") -> None:
        """Raise `BadInput` where `other` begins with something else."""
        mine = (self.problem, self.serial, self.target)
        if mine != (other.problem, other.serial, other.target):
            raise BadInput(
                f"trajectory {self.id} is of {self.problem} ({self.target}) with the serial"
                " code that it had: begin another one"
            )

    def write(self, folder: Path) -> Path | None:
        """Write the trajectory into `folder`; None where no step is right yet."""
        trajectory = self.trajectory()
        if trajectory is None:
            return None
        make_folder(folder)
        path = folder / f"{self.id}.jsonl"
        # whole each time: a kill leaves the last step's file
        write_lines(path, [trajectory])
        return path


def begin_steps(problem: Problem, target: Target, author: str) -> AgentSteps:
    """A trajectory without a step; `author`: model and program, as the graph names its source."""
    created, number = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", secrets.token_hex(6)
    run = f"{created} agent {number}"
    # learned: nobody gave it, and it ranks below what was given
    source = Source(model=author, run=run, created=created, learned=True)
    return AgentSteps(target, problem.name, problem.serial_code, source, id=number)


def name_of(text: str, what: str) -> str:
    """A name that fits in a line."""
    name = label_of(text)
    if not name:
        raise BadInput(f"{what}: there is no name in it; say who takes the step")
    return name
