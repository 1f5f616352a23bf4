"""What `--json` prints: a command's value, dumped as it is."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout

import typer
from pydantic_core import to_jsonable_python


@contextmanager
def notes_aside(as_json: bool) -> Iterator[None]:
    """Send notes to standard error while the answer is JSON."""
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        yield


def print_json(value: object) -> None:
    """Print models, dataclasses and lists of them as one JSON document."""
    plain = to_jsonable_python(value, by_alias=False)
    # ASCII: text of strangers cannot steer a terminal, and a path may hold any bytes
    typer.echo(json.dumps(plain, indent=2))


def answered(value: object, as_json: bool) -> bool:
    """Print an answer with --json; whether it is printed. Else the caller's words follow."""
    if as_json:
        print_json(value)
    return as_json
