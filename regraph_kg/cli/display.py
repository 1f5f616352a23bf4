"""The display of `regraph optimize`: the check of a problem, progress of a search, its result."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer
from rich.progress import (
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from regraph_kg import report
from regraph_kg.cli.progress import telling, transient
from regraph_kg.errors import BadInput
from regraph_kg.models.run import RunSummary, SimulationRecord
from regraph_kg.models.text import counted, times
from regraph_kg.search.methods import kind_of
from regraph_kg.settings import Settings
from regraph_kg.wiring.problems import check_problem

if TYPE_CHECKING:  # numpy comes with it, which a search does not need
    from regraph_kg.evaluation.checkup.findings import Checkup


@dataclass(slots=True)
class Show:
    bar: Progress
    task: TaskID
    budget: int
    best: float = 1.0
    calls: int = 0

    def record(self, record: SimulationRecord) -> None:
        """Move the bar; print what each step came to, a new best with a star."""
        self.calls += sum(step.cost.calls for step in record.steps)
        best = f"{counted(self.calls, 'call')}, {times(record.best_speedup)}"
        last = report.step_line(record.steps[-1])
        self.bar.update(self.task, completed=record.spent, best=best, description=last)
        for step in (step for step in record.steps if step.outcome is not None):
            mark = "*" if (step.speedup or 0.0) > self.best else " "
            self.best = max(self.best, step.speedup or 0.0)
            self.say(f"{record.spent:>4}/{self.budget:<4}{mark} {report.step_line(step)}")

    def say(self, line: str) -> None:
        self.bar.console.print(line)


@contextmanager
def progress(budget: int) -> Iterator[Show]:
    """Show a search of `budget` verdicts on stderr: a line for each, on a terminal a bar."""
    best = TextColumn("verdicts, {task.fields[best]}")
    times_of = TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()
    with transient(MofNCompleteColumn(), best, *times_of) as bar:
        yield Show(bar, bar.add_task("", total=budget, best=""), budget)


def print_summary(summary: RunSummary, rows: Mapping[str, str]) -> None:
    typer.secho(report.headline(summary), bold=True)
    typer.echo(report.run_table(summary, rows, walks=kind_of(summary.method).walks))


def require_good(settings: Settings, name: str) -> None:
    """Check a problem before it is used; a new result goes to stderr. `BadInput` for an error."""
    checkup = checked(settings, name)
    if checkup.errors:
        raise BadInput(f"problem {checkup.problem}: {checkup.errors[0]}")
    # a check that was recalled was told when it was made
    if checkup.seconds is not None:
        print_checkup(checkup, err=True)


def checked(settings: Settings, name: str) -> "Checkup":
    """The check of a problem; slow stages show on stderr."""
    with telling() as tell:
        return check_problem(settings, name, tell)


def print_checkup(checkup: "Checkup", *, err: bool = False) -> None:
    """A line for the problem, and one for each finding."""
    errors = len(checkup.errors)
    kinds = {"error": errors, "note": len(checkup.findings) - errors}
    counts = [counted(count, kind) for kind, count in kinds.items() if count]
    seconds = checkup.seconds
    took = f"looked at in {seconds:.1f} s" if seconds is not None else "looked at before"
    typer.echo(f"{checkup.problem}: {', '.join(counts) or 'good'} ({took})", err=err)
    for finding in checkup.findings:
        typer.echo(f"  {finding.severity:<5}  {finding}", err=err)
