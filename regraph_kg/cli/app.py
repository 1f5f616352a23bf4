"""`regraph`: the command tree, and the one place where an error becomes a line and an exit code."""

import sys
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from regraph_kg.cli import batch, graph, problem, store, techniques, worker
from regraph_kg.cli.docs import docs
from regraph_kg.cli.doctor import doctor
from regraph_kg.cli.evaluate import evaluate
from regraph_kg.cli.examples import examples
from regraph_kg.cli.ingest import ingest
from regraph_kg.cli.learn import learn
from regraph_kg.cli.measure import measure
from regraph_kg.cli.optimize import METHODS, optimize
from regraph_kg.cli.relabel import relabel_check
from regraph_kg.cli.settings import settings
from regraph_kg.errors import BadInput, Interrupted, RegraphError
from regraph_kg.models.text import plain

DEBUG = "--debug"
KEYBOARD_INTERRUPT = 130
"""What typer returns for a Ctrl-C that no command handled."""

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


app.command()(docs)
app.command()(doctor)
app.command()(evaluate)
app.command()(examples)
app.command()(ingest)
app.command()(learn)
app.command()(measure)
app.command(epilog=METHODS)(optimize)
app.command()(relabel_check)
app.command()(settings)
app.add_typer(batch.app, name="batch")
app.add_typer(graph.app, name="graph")
app.add_typer(problem.app, name="problem")
app.add_typer(store.app, name="store")
app.add_typer(techniques.app, name="techniques")
app.add_typer(worker.app, name="worker")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"regraph {version('regraph-kg')}")
        raise typer.Exit


@app.callback()
def _root(
    _: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_version, help="Show the version."),
    ] = False,
    debug: Annotated[bool, typer.Option(DEBUG, help="Show tracebacks.")] = False,
) -> None:
    """Options of every command."""


def main() -> None:
    """Entry point of the `regraph` script: every ending gets a documented exit code."""
    words = [word for word in sys.argv[1:] if word != DEBUG]  # it may stand anywhere
    try:
        code = app(words, standalone_mode=False)
    except RegraphError as error:
        _end(error)
    except typer.TyperException as error:
        _end(_usage(error))
    except BrokenPipeError:  # the reader (head, less) has seen enough
        sys.stdout = None
        code = 0
    except Exception as error:  # noqa: BLE001 (a bug of ours: still one line for the user)
        _end(RegraphError(f"unexpected {type(error).__name__}: {error}; {DEBUG} shows where"))
    if code == KEYBOARD_INTERRUPT:
        _end(Interrupted("interrupted; run the same command again"))
    sys.exit(code)


def _usage(error: typer.TyperException) -> BadInput:
    text = error.format_message().rstrip(".")
    if not text:  # called without a command: typer has printed the help already
        sys.exit(BadInput.exit_code)
    return BadInput(f"{text} (see regraph --help)")


def _end(error: RegraphError) -> NoReturn:
    if DEBUG in sys.argv:
        raise error
    typer.echo(f"regraph: {plain(str(error))}", err=True)
    sys.exit(error.exit_code)
