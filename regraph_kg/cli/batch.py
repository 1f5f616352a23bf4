"""`regraph batch`: how far the answers to the prompts of a folder have come."""

from pathlib import Path
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.answers import Json, tell
from regraph_kg.llm.batch import BatchStatus

ANSWERS = {"batch status": BatchStatus}

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _root() -> None:
    """Models by file: folders of prompts that wait for answers (regraph docs models)."""


@app.command()
def status(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="As in batch:FOLDER.")],
    as_json: Json = False,
) -> None:
    """Count the prompts of FOLDER: waiting, failed, answered. Broken answers are named."""
    found = wiring.batch_status(folder)
    if as_json:
        tell(BatchStatus, found)
        return
    failed = f", {found.failed} of them failed: {found.failure}" if found.failed else ""
    typer.echo(f"pending   {found.pending}{failed}")
    typer.echo(f"answered  {found.answered}")
    if found.unknown:
        typer.echo(f"unknown   {found.unknown}: answers to prompts that were never asked here")
