"""What takes long: a bar or a live line on a terminal; elsewhere nothing, or plain lines."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.text import Text

from regraph_kg.models.text import plain
from regraph_kg.runs.progress import Story

T = TypeVar("T")


@contextmanager
def bar(title: str, total: int) -> Iterator[Callable[[int, str], None]]:
    """Shows how much of `total` is done, and what is being done, on a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task(title, total=max(total, 1))
        yield lambda completed, text: progress.update(task, completed=completed, description=text)


def watch(story: Story[T]) -> T:
    """What comes of a story; on a terminal, a bar shows how far each of its stages is."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
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
    """Tells on stderr what is under way: one live line on a terminal, a line each elsewhere.

    "" takes the live line away, before something else is printed.
    """
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    live = Live(console=console, auto_refresh=False, transient=True)  # no thread beside a clock

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
