"""`regraph dev`: commands for maintainers of a corpus or a vocabulary."""

import typer

from regraph_kg.cli import browser, measure

app = typer.Typer(no_args_is_help=True, help="For maintainers of a corpus or a vocabulary.")
app.command()(measure.measure)
app.command()(browser.browser_pack)
