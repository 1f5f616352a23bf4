"""A progress bar on a terminal; nothing where the output goes elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(title: str, total: int) -> Iterator[Callable[[int, str], None]]:
    """Shows how much of `total` is done, and what is being done, on a terminal."""
    from rich.console import Console  # noqa: PLC0415 (heavy)
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
    )

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as shown:
        task = shown.add_task(title, total=max(total, 1))
        yield lambda done, said: shown.update(task, completed=done, description=said)
