"""What commands print with --json: a value of the type that the `ANSWERS` of their module name.

`regraph docs --schema COMMAND` describes that type: what is printed here is printed by it.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter

Json = Annotated[bool, typer.Option("--json", help="Print as JSON.")]

VERSIONS: dict[str, int] = {}
"""Of a command's answers, where it is not 1: it rises when a field goes or changes its meaning."""


@dataclass(frozen=True, slots=True)
class FileWritten:
    """A file, and its bytes."""

    file: Path
    size: int


@contextmanager
def notes_aside(as_json: bool) -> Iterator[None]:
    """Where the answer is JSON, what is said within goes to standard error."""
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        yield


def tell(kind: Any, value: object) -> None:
    """Print `value`, of the type `kind`, as one JSON document.

    In ASCII: what strangers wrote steers no terminal, and a path may hold any bytes.
    """
    plain = TypeAdapter(kind).dump_python(value, mode="json", warnings="error")
    typer.echo(json.dumps(plain, indent=2))


def answers_of(group: str) -> dict[str, Any]:
    """The types of what the command `group`, or those within it, print: by the words to type."""
    module = import_module(f"regraph_kg.cli.{group.replace('-', '_')}")
    return dict(getattr(module, "ANSWERS", {}))


def schema_of(command: str, kind: Any) -> dict[str, Any]:
    """The JSON Schema of a command's answer; its `$id` tells the version."""
    about = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:regraph:{command.replace(' ', ':')}:{VERSIONS.get(command, 1)}",
    }
    return about | TypeAdapter(kind).json_schema(mode="serialization")
