"""`regraph report`: runs as one page, written to a file, once or while they go on.

Not here: the page's content (runs/run_page.py) and its text (pages/).
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter, sleep
from typing import Annotated

import typer

from regraph_kg import atomic, locks
from regraph_kg.cli.completion import complete_run
from regraph_kg.cli.parameters import argument, option
from regraph_kg.cli.runs import FOLDER, trace_of
from regraph_kg.errors import file_errors
from regraph_kg.pages.render import runs_page
from regraph_kg.runs.run_page import view_runs
from regraph_kg.settings import Settings, read_settings

USUAL = Path("report.html")
RELOAD = 5  # seconds after which a page that follows a search reloads itself
REMEDY = "choose another place: --output"


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
        bool, option("Write the page again and again while the search runs; it reloads itself.")
    ] = False,
) -> None:
    """Show RUNs of `regraph optimize` as one page for a browser: answer, tree, failures, cost.

    The page needs nothing else: it can be sent by mail, opened without a network, and printed.
    Several runs stand side by side. It holds the code, what the model said, and what the machine
    is; a run that is still going on is shown as far as it went.

    Exit code 0: the page is written; 2: a RUN is no trace, or the page cannot be written.
    """
    settings, runs = read_settings(), [trace_of(name, folder) for name in named]
    if watch:
        follow(settings, runs, output or USUAL)
    page = runs_page(view_runs(settings, runs))
    write_page(output or USUAL, page)


def follow(settings: Settings, runs: Sequence[Path], output: Path) -> None:
    """Write the page of runs until Ctrl-C; an unchanged trace is not read again."""
    typer.echo(f"{output}: open it in a browser; Ctrl-C ends it", err=True)
    before, wait = "", float(RELOAD)
    with suppress(KeyboardInterrupt):
        while True:
            stamp = str([(path.stat(), locks.is_held(path)) for path in runs if path.exists()])
            # a lock that is given back ends a search, though its trace is as before
            if stamp != before:
                before, began = stamp, perf_counter()
                page = runs_page(view_runs(settings, runs), reload=RELOAD)
                with file_errors(output, REMEDY):
                    atomic.write(output, page)
                # the search measures times beside it, so that this rests most of the time
                wait = max(RELOAD, 20 * (perf_counter() - began))
            sleep(wait)


def write_page(path: Path, page: str) -> None:
    """Write a page for its user alone, whole or not at all, and say where it is."""
    with file_errors(path, REMEDY):
        atomic.write(path, page)
    typer.echo(f"{path}: open it in a browser ({len(page.encode()) / 1e6:.1f} MB)")
