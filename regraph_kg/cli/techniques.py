"""`regraph techniques`: the graph's knowledge of techniques."""

from contextlib import closing
from typing import Annotated

import typer

from regraph_kg.cli.parameters import Json, answered, argument, option
from regraph_kg.cli.tables import PlainConsole, print_rows
from regraph_kg.models.target import Target
from regraph_kg.models.technique import by_id, resolve
from regraph_kg.models.text import times
from regraph_kg.settings import read_settings
from regraph_kg.wiring.stores import open_store

app = typer.Typer(no_args_is_help=True, help="Look at the techniques.")


@app.command()
def show(
    *,
    technique: Annotated[
        str | None, argument("Its id, name or alias.", metavar="ID", show_default="a list of all")
    ] = None,
    target: Annotated[
        Target | None, option("Only this target's; where a name is looked up.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show one technique: what it is, and what was seen to follow it, with what effect.

    Without ID, list all with their other names; as JSON, a file for regraph ingest --vocabulary.
    """
    with closing(open_store(read_settings())) as store:
        if technique is None:
            every = store.techniques(target)
            if not answered(every, as_json):
                rows = ((one.id, one.name, ", ".join(sorted(one.aliases))) for one in every)
                print_rows(("id", "name", "also called"), rows, {0})
            return
        # of every target: a name of another one is told with its id, and not as unknown
        techniques = by_id(store.techniques())
        resolved = techniques[resolve(technique, techniques, target)]
        successors = store.neighbourhood(resolved.id, device="").successors
    if answered({"technique": resolved, "successors": successors}, as_json):
        return
    # models and strangers wrote these texts: none steers the terminal
    console = PlainConsole()
    console.print(str(resolved))
    if not successors:
        console.print("Nothing was seen to follow it.")
        return
    headings = ("followed by", "examples", "tried", "verified", "effect")
    followed = [
        (
            one.technique.id,
            *map(str, (one.examples, one.here.tried, one.here.right)),
            times(one.here.effect) if one.here.effect else "-",
        )
        for one in successors
    ]
    print_rows(headings, followed, range(1, 5), console)
