"""`regraph report`: runs as one page, written to a file or served while they go on.

Not here: what stands in it (runs/run_page.py), how it is written (pages/).
"""

from pathlib import Path
from typing import Annotated

import typer

from regraph_kg.errors import BadInput
from regraph_kg.pages.render import runs_page
from regraph_kg.private import opener
from regraph_kg.runs.run_page import view_runs
from regraph_kg.settings import read_settings


def report(
    *,
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Traces of regraph optimize.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the page goes.")] = Path(
        "report.html"
    ),
) -> None:
    """Show RUNs of `regraph optimize` as one page for a browser: answer, tree, failures, cost.

    The page needs nothing else: it can be sent by mail, opened without a network, and printed.
    Several runs stand side by side. It holds the code, what the model said, and what the machine
    is; a run that is still going on is shown as far as it went.

    Exit code 0: the page is written; 2: a RUN is no trace, or the page cannot be written.
    """
    page = runs_page(view_runs(read_settings(), runs))
    write_page(output, page)


def write_page(path: Path, page: str) -> None:
    """Write a page for its user alone, whole or not at all, and say where it is."""
    draft = path.with_name(f"{path.name}.part")
    try:
        with open(draft, "w", encoding="utf-8", opener=opener) as file:
            file.write(page)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise BadInput(f"{path}: {error.strerror}; choose another place: --output") from None
    typer.echo(f"{path}: open it in a browser ({len(page.encode()) / 1e6:.1f} MB)")
