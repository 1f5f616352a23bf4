"""`regraph graph restore`: a whole graph from one file; how files of a graph are written."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import DownloadColumn

from regraph_kg import atomic, wiring
from regraph_kg.cli.answers import tell
from regraph_kg.cli.parameters import Json, argument
from regraph_kg.cli.progress import transient
from regraph_kg.errors import file_errors
from regraph_kg.models.graph import GraphStats
from regraph_kg.settings import read_settings

ANSWERS = {"graph restore": GraphStats}


def restore(
    file: Annotated[
        Path,
        argument("What regraph graph export --format backup wrote.", metavar="FILE"),
    ],
    as_json: Json = False,
) -> None:
    """Fill an empty database with the graph that FILE holds.

    Until it is through, nothing else opens the database. An interrupted restore is simply run
    again.
    """
    settings = read_settings()
    size = file.stat().st_size if file.is_file() else None
    with closing(wiring.open_backup(settings)) as graph, counting(file.name, size) as show:
        for restored in graph.restore(file):
            show(restored)
    with closing(wiring.open_store(settings)) as store:
        stats = store.stats()
    if as_json:
        tell(GraphStats, stats)
        return
    typer.echo(
        f"restored: {stats.techniques} techniques, {stats.transitions} examples of"
        f" {stats.trajectories} trajectories; regraph graph check proves them"
    )


def counted(lines: Iterable[bytes], show: Callable[[int], None]) -> Iterator[bytes]:
    """Pass lines on; `show` gets the bytes so far."""
    total = 0
    for line in lines:
        total += len(line)
        show(total)
        yield line


def write(lines: Iterable[bytes], path: Path) -> None:
    """Write a file as a whole; an older file stays until the new one is complete."""
    with (
        file_errors(path, "give another --output"),
        atomic.replacing(path, mode=0o666, synced=True) as file,
    ):
        file.writelines(lines)


@contextmanager
def counting(name: str, size: int | None) -> Iterator[Callable[[int], None]]:
    """Show the bytes done on a terminal."""
    with transient(Console(stderr=True), DownloadColumn()) as bar:
        task = bar.add_task(name, total=size)
        yield lambda completed: bar.update(task, completed=completed)
