"""`regraph dev`: commands for maintainers of a corpus or a vocabulary."""

import typer

from regraph_kg.cli import browser, measure, relabel_check

ANSWERS = relabel_check.ANSWERS

app = typer.Typer(no_args_is_help=True, help="For maintainers of a corpus or a vocabulary.")
app.command()(measure.measure)
app.command()(relabel_check.relabel_check)
app.command()(browser.browser_pack)
