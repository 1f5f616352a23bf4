"""`regraph schema`: what the JSON of a command holds, as JSON Schema."""

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Annotated

import typer
from pydantic import TypeAdapter

from regraph_kg.errors import BadInput

HOMES: Mapping[str, tuple[str, str]] = {
    "next": ("models.next_steps", "NextSteps"),
    "evaluate": ("models.evaluation", "EvalReport"),
    "optimize": ("models.run", "RunSummary"),
}
"""Command -> module and name of the value that its --json prints."""


def schema(
    command: Annotated[str, typer.Argument(help=f"One of: {', '.join(sorted(HOMES))}.")],
) -> None:
    """Print the JSON Schema of what COMMAND prints with --json.

    A field `schema_version` says which form it is: it rises when a field goes or changes its
    meaning; new fields may come at any time. Of several candidates or problems there is a list.
    The schema of trajectory files: regraph graph schema.
    """
    if command not in HOMES:
        raise BadInput(f"no schema of {command!r}; there are: {', '.join(sorted(HOMES))}")
    module, name = HOMES[command]
    value = getattr(import_module(f"regraph_kg.{module}"), name)
    typer.echo(json.dumps(TypeAdapter(value).json_schema(mode="serialization"), indent=2))
