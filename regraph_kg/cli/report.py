"""`regraph report`: runs as one page, written to a file."""

from pathlib import Path
from typing import Annotated

import typer

from regraph_kg import atomic
from regraph_kg.cli.parameters import argument, option
from regraph_kg.cli.runs import FOLDER, trace_of
from regraph_kg.errors import file_errors
from regraph_kg.pages.render import runs_page
from regraph_kg.runs.run_page import view_runs
from regraph_kg.settings import read_settings


def report(
    *,
    named: Annotated[list[str], argument("Traces, or their names.", metavar="RUN...")],
    folder: Annotated[Path, option("Folder of traces.", "--runs")] = FOLDER,
    output: Annotated[Path, option("Where the page goes.", "--output", "-o")] = Path("report.html"),
) -> None:
    """Show RUNs of `regraph optimize` as one page for a browser: answer, tree, failures, cost.

    The page needs nothing else: it can be sent by mail, opened without a network, and printed.
    Several runs stand side by side. It holds the code, what the model said, and what the machine
    is; a run that is still going on is shown as far as it went.

    Exit code 0: the page is written; 2: a RUN is no trace, or the page cannot be written.
    """
    settings, runs = read_settings(), [trace_of(name, folder) for name in named]
    page = runs_page(view_runs(settings, runs))
    # for its user alone, whole or not at all
    with file_errors(output, "choose another place: --output"):
        atomic.write(output, page)
    typer.echo(f"{output}: open it in a browser ({len(page.encode()) / 1e6:.1f} MB)")
