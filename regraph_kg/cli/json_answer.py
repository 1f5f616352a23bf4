"""JSON answers of commands: each has the type that `ANSWERS` of its module names.

`regraph docs --schema COMMAND` prints the schema of that type.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from pydantic import TypeAdapter

VERSION = 1
"""Of an answer; a command gets one of its own when a field goes or changes its meaning."""


@dataclass(frozen=True, slots=True)
class FileWritten:
    """A file, and its bytes."""

    file: Path
    size: int


@contextmanager
def notes_aside(as_json: bool) -> Iterator[None]:
    """Send notes to standard error while the answer is JSON."""
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        yield


def tell(kind: Any, value: object) -> None:
    """Print `value`, of the type `kind`, as one JSON document.

    Output is ASCII: text of strangers cannot steer a terminal, and a path may hold any bytes.
    """
    plain = TypeAdapter(kind).dump_python(value, mode="json", warnings="error")
    typer.echo(json.dumps(plain, indent=2))


def answered(kind: Any, value: object, as_json: bool) -> bool:
    """Print an answer with --json; whether it is printed. Else the caller's words follow."""
    if as_json:
        tell(kind, value)
    return as_json


def answers_of(group: str) -> dict[str, Any]:
    """Answer types of the command `group` and its subcommands, by the words to type."""
    return dict(getattr(import_module(f"regraph_kg.cli.{group}"), "ANSWERS", {}))


def schema_of(command: str, kind: Any) -> dict[str, Any]:
    """The JSON Schema of a command's answer; its `$id` tells the version."""
    about = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:regraph:{command.replace(' ', ':')}:{VERSION}",
    }
    return about | TypeAdapter(kind).json_schema(mode="serialization")
