"""Progress of slow work: a bar or a live line on a terminal, elsewhere nothing or plain lines."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.live import Live
from rich.progress import BarColumn, Progress, ProgressColumn, TaskProgressColumn, TextColumn
from rich.table import Column
from rich.text import Text

from regraph_kg.cli.tables import PlainConsole
from regraph_kg.runs.progress import Story

T = TypeVar("T")


def transient(*amounts: ProgressColumn) -> Progress:
    """A bar of work with its `amounts` that vanishes at the end; hidden without a terminal."""
    console = PlainConsole(stderr=True, soft_wrap=True)
    # amounts keep their widths on a narrow terminal; the bar and the words share the rest
    words = Column(ratio=3, no_wrap=True, overflow="ellipsis")
    columns = (
        BarColumn(None, table_column=Column(ratio=1)),
        *amounts,
        TextColumn("{task.description}", markup=False, table_column=words),
    )
    hidden = not console.is_terminal
    return Progress(*columns, console=console, transient=True, disable=hidden, expand=True)


def watch(story: Story[T]) -> T:
    """Run a story and return its result; on a terminal a bar shows each stage."""
    with transient(TaskProgressColumn()) as progress:
        task, stage = progress.add_task("", visible=False), ""
        while True:
            try:
                work = next(story)
            except StopIteration as ended:
                result: T = ended.value
                return result
            if work.line:
                progress.console.print(work.line)
            if work.stage != stage:
                progress.reset(task)
                stage = work.stage
            text, total = work.text, max(work.total, 1)
            progress.update(task, completed=work.done, total=total, description=text, visible=True)


@contextmanager
def telling() -> Iterator[Callable[[str], None]]:
    """Show current work on stderr, on a terminal in one live line, which "" removes."""
    console = PlainConsole(stderr=True, soft_wrap=True)
    # no thread of it disturbs the judge's times
    live = Live(console=console, auto_refresh=False, transient=True)

    def tell(text: str) -> None:
        if not console.is_terminal:
            if text:
                console.print(text)
        elif text:
            live.start()
            live.update(Text(f"{text} ..", style="dim"), refresh=True)
        else:
            live.stop()

    try:
        yield tell
    finally:
        live.stop()
