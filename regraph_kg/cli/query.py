"""`regraph graph query`: a question in Cypher, answered by a table."""

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Annotated

import typer
from pydantic import JsonValue

from regraph_kg import wiring
from regraph_kg.cli.answers import answered
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.tables import print_rows
from regraph_kg.errors import BadInput
from regraph_kg.models.query import GraphTable
from regraph_kg.settings import read_settings

ANSWERS = {"graph query": GraphTable}

LONGEST = 80
"""Characters of a text that a table shows."""
NUMBERS = 4
"""Numbers of a longer list that a table shows."""


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

    Labels and properties: regraph docs graph. In the table long texts and lists of numbers are
    shortened; --json has them whole, a node as its labels and properties.

    Exit code 2: the store does not understand CYPHER, and its words.
    """
    parameters = dict(_parameter(text) for text in param or ())
    with closing(wiring.open_reader(read_settings())) as graph:
        answer = graph.query(statement, parameters, limit=limit, seconds=timeout)
    if answered(GraphTable, answer, as_json):
        return
    if answer.columns:
        _print(answer)
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
            f"--param {text[:LONGEST]}: give NAME=VALUE, the value as JSON (a text in double"
            " quotes)"
        ) from None


def _print(answer: GraphTable) -> None:
    figures = {
        index
        for index in range(len(answer.columns))
        if all(isinstance(row[index], int | float) for row in answer.rows)
    }
    print_rows(answer.columns, (map(_cell, row) for row in answer.rows), figures)


def _cell(value: JsonValue) -> str:
    short = _short(value)
    return short if isinstance(short, str) else json.dumps(short, ensure_ascii=False)


def _short(value: JsonValue) -> JsonValue:
    """A value without what makes a table unreadable."""
    if isinstance(value, str):
        line = " ".join(value.split())
        return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
    if isinstance(value, Mapping):
        return {name: _short(item) for name, item in value.items()}
    if isinstance(value, Sequence):
        numbers = len(value) > NUMBERS and all(isinstance(item, int | float) for item in value)
        items = [_short(item) for item in (value[:NUMBERS] if numbers else value)]
        return [*items, f"... {len(value)} numbers"] if numbers else items
    return value
