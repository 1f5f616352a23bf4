"""`regraph`: the command tree, and the one place where an error becomes a line and an exit code."""

import sys
from typing import Annotated

import typer

from regraph_kg.errors import Interrupted, RegraphError

app = typer.Typer(
    name="regraph",
    help="Optimize code with a technique graph: a model proposes, compiler and clock judge.",
    epilog=(
        "Exit codes: 0 done | 1 an honest negative | 2 usage or bad input | 3 environment"
        " | 4 interrupted, resumable | 5 waiting for answers by file."
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _root(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Options of every command."""


def main() -> None:
    """Entry point of the `regraph` script."""
    try:
        app()
    except KeyboardInterrupt:
        _end(Interrupted("interrupted; nothing to resume, run the command again"))
    except RegraphError as error:
        _end(error)


def _end(error: RegraphError) -> None:
    if "--debug" in sys.argv:
        raise error
    typer.echo(f"regraph: {error}", err=True)
    sys.exit(error.exit_code)
