"""`regraph graph`: ask the graph, count, embed it; write it into a file."""

import json
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from regraph_kg import atomic
from regraph_kg.cli.parameters import Json, answered, argument, option
from regraph_kg.cli.progress import watch
from regraph_kg.cli.tables import one_line, print_rows
from regraph_kg.errors import BadInput, file_errors
from regraph_kg.llm.ngrams import SPACE
from regraph_kg.runs.ingest import embedding
from regraph_kg.settings import read_settings
from regraph_kg.wiring import stores
from regraph_kg.wiring.stores import open_store

app = typer.Typer(no_args_is_help=True, help="The graph as a whole: ask, look, embed, export.")


@app.command()
def report(*, as_json: Json = False) -> None:
    """Count what the graph holds, what of it carries itself out, and what to lift next.

    A fact is a step that an accepted transform makes, a story any other (regraph docs transforms).
    """
    with closing(open_store(read_settings())) as store:
        found = store.report()
    if not answered(found, as_json):
        typer.echo(str(found))


@app.command()
def query(
    statement: Annotated[str, argument("MATCH .. RETURN ..", metavar="CYPHER")],
    param: Annotated[
        list[str] | None,
        option("What $NAME stands for, as JSON; may be repeated.", metavar="NAME=VALUE"),
    ] = None,
    limit: Annotated[int, option("Rows, at most.", min=1, max=100_000)] = 100,
    timeout: Annotated[float, option("Seconds to wait for the answer.", min=0.1, max=3600)] = 30.0,
    as_json: Json = False,
) -> None:
    """Ask the graph a question in Cypher; what would change something is refused.

    Labels and properties: regraph docs graph. In the table long values are shortened; --json
    has them whole, a node as its labels and properties.

    Exit code 2: the store does not understand CYPHER, and its words.
    """
    parameters = dict(_parameter(text) for text in param or ())
    answer = stores.query(read_settings(), statement, parameters, limit=limit, seconds=timeout)
    if answered(answer, as_json):
        return
    if answer.columns:
        print_rows(answer.columns, (map(_cell, row) for row in answer.rows))
    if answer.cut:
        typer.echo(f"the first {limit} rows; --limit shows more", err=True)


def _parameter(text: str) -> tuple[str, JsonValue]:
    name, equals, value = text.partition("=")
    try:
        if not (name and equals):
            raise ValueError
        return name, json.loads(value)
    except (ValueError, RecursionError):
        raise BadInput(
            f"--param {one_line(text)}: give NAME=VALUE, the value as JSON (a text in double"
            " quotes)"
        ) from None


def _cell(value: JsonValue) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


@app.command()
def embed() -> None:
    """Give vectors to examples without, and index them.

    Those that another version made are made anew; until all are there, examples --near finds none.
    It may be stopped, killed or interrupted, and is simply run again.
    """
    with closing(open_store(read_settings())) as store:
        watch(embedding(store, change=True))
    typer.echo(f"every example is embedded by {SPACE}")


@app.command()
def export(
    *,
    output: Annotated[
        Path | None, option("File to write.", "--output", "-o", show_default="standard output")
    ] = None,
    unnamed: Annotated[
        bool, option("Only techniques that senders gave: an ingest looks all names up anew.")
    ] = False,
) -> None:
    """Write every trajectory and transform, by id, as lines that `regraph ingest` reads.

    The techniques' definitions are not in it: regraph techniques show --json writes those, for
    regraph ingest --vocabulary.

    What is ingested meanwhile may or may not be in.
    """
    with closing(open_store(read_settings())) as store:
        stored = (one.unnamed if unnamed else one.trajectory for one in store.stored())
        lines = chain(
            (trajectory.line().encode() for trajectory in stored),
            (transform.line().encode() for transform in store.transforms()),
        )
        if output is None:
            for line in lines:
                typer.echo(line, nl=False)
            return
        with (
            file_errors(output, "give another --output"),
            atomic.replacing(output, mode=0o666, synced=True) as file,
        ):
            file.writelines(lines)
