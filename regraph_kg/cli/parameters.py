"""How commands declare what is typed, help first, and print a value as it is with `--json`.

A switch that is off by default has no `--no-NAME` (app.py takes that away).
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from typing import Annotated, Any

import typer


def option(help: str, *names: str, **more: Any) -> Any:
    """An option; `names` where it is not called as its parameter."""
    return typer.Option(*names, help=help, **more)


def argument(help: str, **more: Any) -> Any:
    """An argument by its place."""
    return typer.Argument(help=help, **more)


def model_option(help: str) -> Any:
    """A model that is asked, by default that of the settings."""
    names = "ollama:NAME|openai:NAME|batch:FOLDER"
    return option(help, metavar=names, show_default="REGRAPH_MODEL")


Json = Annotated[bool, option("Print as JSON.", "--json")]


@contextmanager
def notes_aside(as_json: bool) -> Iterator[None]:
    """Send notes to standard error while the answer is JSON."""
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        yield


def print_json(value: object) -> None:
    """Print models, dataclasses and lists of them as one JSON document."""
    from pydantic_core import to_jsonable_python  # noqa: PLC0415 (help does not need it)

    # ASCII: text of strangers cannot steer a terminal, and a path may hold any bytes
    typer.echo(json.dumps(to_jsonable_python(value, by_alias=False), indent=2))


def answered(value: object, as_json: bool) -> bool:
    """Print an answer with --json; whether it is printed. Else the caller's words follow."""
    if as_json:
        print_json(value)
    return as_json
