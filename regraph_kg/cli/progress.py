"""Progress of slow work: a bar or a live line on a terminal, elsewhere nothing or plain lines."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, Progress, ProgressColumn, TaskProgressColumn, TextColumn
from rich.text import Text

from regraph_kg.models.text import plain
from regraph_kg.runs.progress import Story

T = TypeVar("T")


def on_terminal() -> bool:
    """Whether a user can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def transient(console: Console, *amounts: ProgressColumn) -> Progress:
    """A bar of work with its `amounts` that vanishes at the end; hidden without a terminal."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), *amounts)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


@contextmanager
def bar(title: str, total: int | None) -> Iterator[Callable[[int, str], None]]:
    """Show the share of `total` (None: unknown) that is done, and the work, on a terminal."""
    with transient(Console(stderr=True), TaskProgressColumn()) as progress:
        task = progress.add_task(title, total=total or None)
        yield lambda completed, text: progress.update(task, completed=completed, description=text)


def watch(story: Story[T]) -> T:
    """Run a story and return its result; on a terminal a bar shows each stage."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    with transient(console, TaskProgressColumn()) as progress:
        task, stage = progress.add_task("", visible=False), ""
        while True:
            try:
                work = next(story)
            except StopIteration as ended:
                result: T = ended.value
                return result
            if work.line:
                console.print(plain(work.line), markup=False)
            if work.stage != stage:
                progress.reset(task)
                stage = work.stage
            text, total = plain(work.text), max(work.total, 1)
            progress.update(task, completed=work.done, total=total, description=text, visible=True)


@contextmanager
def telling() -> Iterator[Callable[[str], None]]:
    """Show current work on stderr: one live line on a terminal, a line each elsewhere.

    "" removes the live line before other output.
    """
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    live = Live(
        console=console, auto_refresh=False, transient=True
    )  # no thread disturbs the judge's times

    def tell(text: str) -> None:
        if not console.is_terminal:
            if text:
                console.print(text, markup=False)
        elif text:
            live.start()
            live.update(Text(f"{text} ..", style="dim"), refresh=True)
        else:
            live.stop()

    try:
        yield tell
    finally:
        live.stop()
