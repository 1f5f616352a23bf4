"""`regraph graph migrate`: carry a graph of an older version to this program's."""

from contextlib import closing
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.settings import read_settings


def migrate(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done; change nothing.")
    ] = False,
) -> None:
    """Carry a graph that an older regraph-kg made to this program's version.

    Make a backup first with the older program (regraph graph export, or the server's own), and let
    nobody ingest meanwhile: older programs cannot use the graph afterwards. An interrupted
    migration is simply run again.
    """
    with closing(wiring.open_migrator(read_settings())) as migrator:
        version, pending = migrator.version(), migrator.pending()
        if not pending:
            typer.echo(f"graph has schema {version}: nothing to do")
            return
        for migration in pending:
            verb = "would bring" if dry_run else "brings"
            typer.echo(f"schema {migration.version} {verb}: {migration.title}")
        if dry_run:
            return
        done = {}
        for step in migrator.run():
            done[step.migration.version, step.what] = step
        for (number, what), last in done.items():
            typer.echo(f"schema {number}: {last.done} {what}")
        typer.echo(f"graph has schema {migrator.version()} now")
