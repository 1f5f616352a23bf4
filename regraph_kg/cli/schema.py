"""`regraph schema`: what the JSON of a command holds, as JSON Schema."""

import json
from typing import Annotated

import typer

from regraph_kg.cli.answers import answers_of, schema_of
from regraph_kg.errors import BadInput


def schema(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND...", help="Its words: evaluate, or runs show.")
    ],
) -> None:
    """Print the JSON Schema of what COMMAND prints with --json.

    Its `$id` ends with a version, which rises when a field goes or changes its meaning; new fields
    may come at any time. The schema of trajectory files: regraph graph schema.
    """
    from regraph_kg.cli.app import COMMANDS  # noqa: PLC0415 (it loads this module)

    name = " ".join(command)
    found = answers_of(command[0]) if command[0] in COMMANDS else {}
    if name not in found:
        known = ", ".join(sorted(found) or sorted(one for one in COMMANDS if answers_of(one)))
        raise BadInput(f"no schema of {name!r}; there are: {known}")
    typer.echo(json.dumps(schema_of(name, found[name]), indent=2))
