"""`regraph graph`: totals of the graph, and the commands that work on a whole one."""

import json
from contextlib import closing
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli import (
    backup,
    browser,
    embeddings,
    exchange,
    graph_page,
    migrate,
    purge,
    query,
    upkeep,
)
from regraph_kg.cli.answers import tell
from regraph_kg.models.graph import GraphStats
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.settings import read_settings

ANSWERS = {
    "graph stats": GraphStats,
    **backup.ANSWERS,
    **embeddings.ANSWERS,
    **exchange.ANSWERS,
    **graph_page.ANSWERS,
    **migrate.ANSWERS,
    **purge.ANSWERS,
    **query.ANSWERS,
    **upkeep.ANSWERS,
}

app = typer.Typer(
    no_args_is_help=True,
    help="The graph as a whole: look, compare, back up, import, export, purge.",
)


app.command()(query.query)
app.command()(migrate.migrate)
app.command()(backup.backup)
app.command()(backup.restore)
app.command()(exchange.export)
app.command("import")(exchange.import_)
app.command()(exchange.diff)
app.command()(upkeep.check)
app.command()(upkeep.bound)
app.command()(purge.purge)
app.command()(embeddings.reembed)
app.command()(browser.browser_pack)
app.command()(graph_page.report)


@app.command()
def stats(
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Count what the graph holds."""
    with closing(wiring.open_store(read_settings())) as store:
        found = store.stats()
    if as_json:
        tell(ANSWERS["graph stats"], found)
        return
    by_target = ", ".join(f"{count} {target}" for target, count in sorted(found.targets.items()))
    typer.echo(f"techniques    {found.techniques}")
    typer.echo(f"transitions   {found.transitions} examples of {found.pairs} pairs")
    typer.echo(f"trajectories  {found.trajectories}" + (f" ({by_target})" if by_target else ""))
    typer.echo(f"schema        {found.schema_version}")


@app.command()
def schema() -> None:
    """Print the JSON Schema of one line of Trajectory JSONL."""
    typer.echo(trajectory_schema())


def trajectory_schema() -> str:
    """The JSON Schema of Trajectory JSONL, version 1, as text; docs/trajectory.schema.json."""
    described = Trajectory.model_json_schema(by_alias=True)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(head | described, indent=2)
