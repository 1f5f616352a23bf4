"""`regraph graph report`: the graph as a page."""

from pathlib import Path
from typing import Annotated

import typer

from regraph_kg.cli.answers import FileWritten, Json
from regraph_kg.cli.report import write_page
from regraph_kg.pages.render import graph_page
from regraph_kg.runs.graph_page import view_graph
from regraph_kg.settings import read_settings

ANSWERS = {"graph report": FileWritten}


def report(
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the page goes.")] = Path(
        "graph.html"
    ),
    as_json: Json = False,
) -> None:
    """Show the graph as one page for a browser, for colleagues who have no store.

    What each technique gained on each device, the strongest transitions, and of each technique what
    it is, when it applies, what follows it, and an example's code. It needs no network and holds
    code of the graph's examples; of a large graph the techniques that were tried most.
    """
    write_page(output, graph_page(view_graph(read_settings())), as_json=as_json)
