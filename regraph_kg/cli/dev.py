"""`regraph dev`: commands for maintainers of a corpus or a vocabulary."""

from pathlib import Path
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli import measure, relabel_check
from regraph_kg.cli.parameters import argument

ANSWERS = relabel_check.ANSWERS

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _root() -> None:
    """For maintainers of a corpus or a vocabulary."""


app.command()(measure.measure)
app.command()(relabel_check.relabel_check)


@app.command()
def browser_pack(
    folder: Annotated[Path, argument("Where to write; made if it is not there.")],
) -> None:
    """Write saved queries and a style for Neo4j Browser, to be dropped onto its page.

    What each query answers, with pictures: regraph docs browser.
    """
    queries, style = wiring.write_browser_pack(folder)
    typer.echo(f"drag onto Neo4j Browser: {queries}, then {style}")
