"""`regraph graph migrate`: carry a graph of an older version to this program's."""

from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.answers import Json, tell
from regraph_kg.settings import read_settings


@dataclass(frozen=True, slots=True)
class GraphMigrated:
    """A graph's schema before and now, and what that brings, or would bring."""

    before: int
    now: int
    brings: list[str]


ANSWERS = {"graph migrate": GraphMigrated}


def migrate(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done; change nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Carry a graph that an older regraph-kg made to this program's version.

    Make a backup first with the older program (regraph graph export, or the server's own), and let
    nobody ingest meanwhile: older programs cannot use the graph afterwards. An interrupted
    migration is simply run again.
    """
    with closing(wiring.open_migrator(read_settings())) as migrator:
        found, pending = migrator.version(), migrator.pending()
        say = partial(typer.echo, err=as_json)
        if not pending:
            say(f"graph has schema {found}: nothing to do")
        for migration in pending:
            verb = "would bring" if dry_run else "brings"
            say(f"schema {migration.version} {verb}: {migration.title}")
        if pending and not dry_run:
            done = {(step.migration.version, step.what): step for step in migrator.run()}
            for (number, what), last in done.items():
                say(f"schema {number}: {last.done} {what}")
            say(f"graph has schema {migrator.version()} now")
        if as_json:
            titles = [one.title for one in pending]
            tell(GraphMigrated, GraphMigrated(found, migrator.version(), titles))
