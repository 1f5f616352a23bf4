"""The display of `regraph optimize`: progress of a search, and its result.

Not here: a result in words (report.py).
"""

import itertools
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from regraph_kg import report
from regraph_kg.cli.tables import PlainConsole
from regraph_kg.models.run import RunSummary, SimulationRecord
from regraph_kg.models.technique import free_id, start_id
from regraph_kg.models.text import times
from regraph_kg.search.methods import kind_of
from regraph_kg.settings import Settings


@dataclass(slots=True)
class Show:
    """The display of one search."""

    bar: Progress
    task: TaskID
    budget: int
    every: bool
    """Whether each record gets a line, or a new best alone."""
    best: float = 1.0

    def record(self, record: SimulationRecord) -> None:
        """Move the bar; print a new best, and with `every` each record."""
        best, tried = f"best {times(record.best_speedup)}", report.tried(record)
        self.bar.update(self.task, completed=record.spent, best=best, description=tried)
        spent = f"{record.spent}/{self.budget}"
        if record.best_speedup > self.best:
            self.best = record.best_speedup
            path = report.path(record.best_path)
            self.say(f"{spent:>8}  {times(record.best_speedup):>6}  {path}")
        elif self.every:  # in line with those of a new best
            self.say(f"{spent:>8}  {'':>6}  {tried}")

    def say(self, line: str) -> None:
        """Print another line."""
        self.bar.console.print(line)


@contextmanager
def progress(budget: int, *, every: bool = False) -> Iterator[Show]:
    """Show a search of `budget` calls on stderr: a line for each new best, on a terminal a bar."""
    console = PlainConsole(stderr=True, soft_wrap=True)
    # counts and times keep their widths on a narrow terminal; the bar and the words share the rest
    words = Column(ratio=3, no_wrap=True, overflow="ellipsis")
    columns = (
        BarColumn(None, table_column=Column(ratio=1)),
        *(MofNCompleteColumn(), TextColumn("calls"), TextColumn("{task.fields[best]}")),
        *(TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()),
        TextColumn("{task.description}", markup=False, table_column=words),
    )
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden, expand=True) as bar:
        yield Show(bar, bar.add_task("", total=budget, best=""), budget, every)


def print_summary(settings: Settings, summary: RunSummary, rows: Mapping[str, str]) -> None:
    """Print headline, table with `rows` at its end, and where to look at the path.

    An embedded store has no Browser: the commands that show the path stand in its place.
    """
    typer.secho(report.headline(summary), bold=True)
    typer.echo(report.run_table(summary, rows, walks=kind_of(summary.method).walks))
    path = techniques(summary)
    if len(path) == 1:
        return
    if settings.store != "embedded":
        from regraph_kg.wiring.stores import browser_query  # noqa: PLC0415 (loads the driver)

        typer.echo(f"\nThis path's examples, in Neo4j Browser:\n{browser_query(path)}")
        return
    typer.echo("\nThis path's examples:")
    for pair in itertools.pairwise(path):
        typer.echo(f"  regraph examples {shlex.join(pair)}")


def techniques(summary: RunSummary) -> list[str]:
    """The answer's path in the graph: technique ids, the start first, without sample marks.

    Free choices are left out: a step after one counts as a successor of the step before it.
    """
    path = [part.partition("#")[0] for part in summary.best_path]
    return [start_id(summary.target), *(key for key in path if key != free_id(summary.target))]


def say(line: str) -> None:
    """A line about the run itself, beside its result."""
    typer.echo(line, err=True)
