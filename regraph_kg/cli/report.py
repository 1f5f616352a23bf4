"""`regraph report`: runs as one page, written to a file or served while they go on.

Not here: the page's content (runs/run_page.py) and its text (pages/).
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Annotated

import typer

from regraph_kg import atomic, locks
from regraph_kg.cli.completion import complete_run
from regraph_kg.cli.parameters import argument, option
from regraph_kg.cli.runs import FOLDER, trace_of
from regraph_kg.errors import file_errors
from regraph_kg.pages.live import served
from regraph_kg.pages.render import runs_page
from regraph_kg.runs.run_page import view_runs
from regraph_kg.settings import Settings, read_settings

USUAL = Path("report.html")


def report(
    *,
    named: Annotated[
        list[str],
        argument("Traces, or their names.", metavar="RUN...", autocompletion=complete_run),
    ],
    folder: Annotated[Path, option("Folder of traces.", "--runs")] = FOLDER,
    output: Annotated[
        Path | None, option("Where the page goes.", "--output", "-o", show_default=str(USUAL))
    ] = None,
    watch: Annotated[
        bool, option("Serve the page to this machine's browser while the search runs.")
    ] = False,
) -> None:
    """Show RUNs of `regraph optimize` as one page for a browser: answer, tree, failures, cost.

    The page needs nothing else: it can be sent by mail, opened without a network, and printed.
    Several runs stand side by side. It holds the code, what the model said, and what the machine
    is; a run that is still going on is shown as far as it went.

    With --watch the page follows the runs until Ctrl-C; it is written only where --output says.

    Exit code 0: the page is written, or was watched until Ctrl-C; 2: a RUN is no trace, or the page
    cannot be written.
    """
    settings, runs = read_settings(), [trace_of(name, folder) for name in named]
    if watch:
        follow(settings, runs)
    if output is not None or not watch:
        write_page(output or USUAL, runs_page(view_runs(settings, runs)))


def follow(settings: Settings, runs: Sequence[Path]) -> None:
    """Serve the page of runs until Ctrl-C; an unchanged trace is not read again."""
    pages: dict[str, str] = {}

    def page() -> str:
        stamp = str([(path.stat(), locks.is_held(path)) for path in runs if path.exists()])
        if stamp not in pages:
            text = runs_page(view_runs(settings, runs), live=True)
            pages.clear()
            pages[stamp] = text
        return pages[stamp]

    page()  # a bad trace fails before the server starts
    with served(page) as address:
        typer.echo(f"{address}: open it in a browser of this machine; Ctrl-C ends it", err=True)
        with suppress(KeyboardInterrupt):
            Event().wait()


def write_page(path: Path, page: str) -> None:
    """Write a page for its user alone, whole or not at all, and say where it is."""
    with file_errors(path, "choose another place: --output"):
        atomic.write(path, page)
    typer.echo(f"{path}: open it in a browser ({len(page.encode()) / 1e6:.1f} MB)")
