"""The display of `regraph optimize`: progress of one or several searches, and their results.

Not here: numbers and tables as text (report.py).
"""

import itertools
import shlex
from collections.abc import Callable, Iterator, Mapping
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
from regraph_kg.search.methods import kind_of
from regraph_kg.settings import Settings


@contextmanager
def progress(
    budgets: Mapping[str, int], *, every: bool = False
) -> Iterator[Callable[[str], "Show"]]:
    """Show searches by name: a line for each new best, and on a terminal a live bar each.

    `budgets` are their calls; `every` prints every record. Lines of several searches begin with the
    search's name. Output goes to stderr.
    """
    console = PlainConsole(stderr=True, soft_wrap=True)
    counts = MofNCompleteColumn(), TextColumn("calls"), TextColumn("{task.fields[best]}")
    times = TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()
    # counts and times keep their widths; the bar and the description share the rest
    line = BarColumn(None, table_column=Column(ratio=1))
    description = Column(ratio=3, no_wrap=True, overflow="ellipsis")
    text = TextColumn("{task.description}", markup=False, table_column=description)
    columns = [line, *counts, *times, text]
    width = max(map(len, budgets), default=0)
    if len(budgets) > 1:
        short = Column(max_width=console.width // 6, no_wrap=True, overflow="ellipsis")
        columns.insert(0, TextColumn("{task.fields[name]}", markup=False, table_column=short))
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden, expand=True) as bar:

        def show(name: str) -> "Show":
            mark = f"{name:<{width}}  " if len(budgets) > 1 else ""
            task = bar.add_task("", total=budgets[name], name=name, best="")
            return Show(bar, task, mark, budgets[name], every)

        yield show


@dataclass(slots=True)
class Show:
    """The display of one search; callable from any thread."""

    bar: Progress
    task: TaskID
    mark: str
    """Begins each line."""
    budget: int
    every: bool
    best: float = 1.0

    def record(self, record: SimulationRecord) -> None:
        """Move the bar; print a new best, and with `every` each record."""
        best, tried = f"best {report.times(record.best_speedup)}", report.tried(record)
        self.bar.update(self.task, completed=record.spent, best=best, description=tried)
        if record.best_speedup > self.best:
            self.best = record.best_speedup
            self.say(report.new_best(record, self.budget))
        elif self.every:
            self.say(report.no_best(record, self.budget))

    def say(self, line: str) -> None:
        """Print another line."""
        self.bar.console.print(self.mark + line)


def print_summary(settings: Settings, summary: RunSummary, rows: Mapping[str, str]) -> None:
    """Print headline, table with `rows` at its end, and where to look at the path.

    An embedded store has no Browser: the commands that show the path stand in its place.
    """
    typer.secho(report.headline(summary), bold=True)
    walks = kind_of(summary.method).walks
    typer.echo(report.run_table(summary, rows, walks=walks))
    path = techniques(summary)
    if len(path) == 1:
        return
    if settings.store != "embedded":
        from regraph_kg.wiring.stores import browser_query  # noqa: PLC0415 (loads the driver)

        query = browser_query(path)
        typer.echo(f"\nThis path's examples, in Neo4j Browser:\n{query}")
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
