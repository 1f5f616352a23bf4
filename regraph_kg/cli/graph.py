"""`regraph graph`: totals of the graph, its page, and the commands that work on a whole one."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli import exchange, purge, query, upkeep
from regraph_kg.cli.answers import FileWritten, answered
from regraph_kg.cli.parameters import Json, option
from regraph_kg.cli.report import write_page
from regraph_kg.cli.tables import print_aligned
from regraph_kg.models.graph import GraphStats
from regraph_kg.settings import Settings, read_settings

ANSWERS = {
    "graph stats": GraphStats | FileWritten,
    **exchange.ANSWERS,
    **purge.ANSWERS,
    **query.ANSWERS,
    **upkeep.ANSWERS,
}

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _root() -> None:
    """The graph as a whole: ask, look, check, back up, restore, purge."""


app.command()(query.query)


@app.command()
def stats(
    page: Annotated[
        Path | None, option("Write the graph as a page for a browser instead.", metavar="FILE")
    ] = None,
    as_json: Json = False,
) -> None:
    """Count what the graph holds, or show it as one page for colleagues who have no store.

    On the page: what each technique gained on each device, the strongest transitions, and of each
    technique what it is, when it applies, what follows it, and an example's code. It needs no
    network and holds code of the graph's examples; of a large graph the techniques that were tried
    most.
    """
    settings = read_settings()
    if page is None:
        _count(settings, as_json=as_json)
        return
    from regraph_kg.pages.render import graph_page  # noqa: PLC0415 (counts need no templates)
    from regraph_kg.runs.graph_page import view_graph  # noqa: PLC0415

    write_page(page, graph_page(view_graph(settings)), as_json=as_json)


def _count(settings: Settings, *, as_json: bool) -> None:
    with closing(wiring.open_store(settings)) as store:
        totals, bound = store.stats(), store.bound()
    if answered(GraphStats, totals, as_json):
        return
    by_target = ", ".join(f"{count} {target}" for target, count in sorted(totals.targets.items()))
    rows = {
        "techniques": totals.techniques,
        "transitions": f"{totals.transitions} examples of {totals.pairs} pairs",
        "in sight": f"{bound} examples of a pair at most, the others are archived",
        "trajectories": f"{totals.trajectories}" + (f" ({by_target})" if by_target else ""),
        "schema": totals.schema_version,
    }
    print_aligned([(name, str(value)) for name, value in rows.items()])


app.command()(upkeep.check)
app.command()(upkeep.update)
app.command()(exchange.export)
app.command()(exchange.restore)
app.command()(purge.purge)
