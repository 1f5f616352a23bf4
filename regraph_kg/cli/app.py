"""`regraph`: the command tree; here an error becomes a line and an exit code."""

import sys
import warnings
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any, NoReturn

import typer
import typer.core
import typer.main

from regraph_kg.cli.parameters import option
from regraph_kg.errors import BadInput, Interrupted, RegraphError

DEBUG = "--debug"
KEYBOARD_INTERRUPT = 130  # typer's result for a Ctrl-C that no command handled

COMMANDS = {
    "ingest": "Grow the graph from files of trajectories.",
    "next": "Say what the graph would try next on a code, and why.",
    "examples": "Show examples of a step: code before and after, and its effect.",
    "optimize": "Search for faster code: a model proposes, compiler and clock judge.",
    "evaluate": "Compile, run, verify and time candidates.",
    "learn": "Teach the graph what finished searches found.",
    "lift": "Make a technique carry itself out, by a transform.",
    "apply": "Bring the fastest code of a search home.",
    "runs": "Searches: a table of all, or what one found.",
    "report": "Show searches as one page for a browser.",
    "problem": "Make problems of your functions, and check them.",
    "graph": "The graph as a whole: ask, look, embed, export.",
    "techniques": "Look at the techniques.",
    "doctor": "Check this machine: compilers, GPU, sandbox, store and models.",
    "mcp": "Serve the graph and the judge to coding agents.",
    "collect": "Collect new trajectories from models.",
    "docs": "Read a document, or the settings in force.",
}
"""What `regraph --help` lists, without loading any of them."""


class _Commands(typer.core.TyperGroup):
    """Lists commands by the table above; a command is loaded when it is called."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {
            name: typer.core.TyperCommand(name, help=text) for name, text in COMMANDS.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[:1] == ["bench"]:
            raise BadInput("bench: in a checkout of regraph-kg, python -m benchmarks.bench")
        name, listed, words = super().resolve_command(ctx, args)
        return name, loaded(name) if name and listed else listed, words


def loaded(name: str) -> Any:
    """A command; its module has a function of its name, or an `app`; `EPILOG` ends its help."""
    # together they take over a second
    module = import_module(f"regraph_kg.cli.{name}")
    alone = typer.Typer(add_completion=False)
    if hasattr(module, "app"):
        alone.add_typer(module.app, name=name)
    else:
        alone.command(name, epilog=getattr(module, "EPILOG", None))(getattr(module, name))
    alone.callback()(_root)  # a callback makes it a group
    command = typer.main.get_group(alone).commands[name]
    _drop_no_forms(command)
    return command


def _drop_no_forms(command: Any) -> None:
    """Take `--no-NAME` from the switches that are off by default, also of commands below."""
    for parameter in command.params:
        if parameter.default is False:
            parameter.secondary_opts = []
    for below in getattr(command, "commands", {}).values():
        _drop_no_forms(below)


app = typer.Typer(
    name="regraph",
    cls=_Commands,
    help="Optimize code with a technique graph: a model proposes, compiler and clock judge.",
    epilog=(
        "Exit codes: 0 done | 1 an honest negative | 2 usage or bad input | 3 environment"
        " | 4 interrupted, resumable | 5 waiting for answers by file."
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"regraph {version('regraph-kg')}")
        raise typer.Exit


@app.callback()
def _root(
    _: Annotated[
        bool, option("Show the version.", "--version", is_eager=True, callback=_version)
    ] = False,
    debug: Annotated[bool, option("Show tracebacks.", DEBUG)] = False,
) -> None:
    """Options of every command."""


def main(commands: typer.Typer = app) -> None:
    """Entry point of the `regraph` script: every ending gets a documented exit code."""
    warnings.formatwarning = lambda message, *_: f"regraph: warning: {message}\n"
    words = [word for word in sys.argv[1:] if word != DEBUG]  # --debug may stand anywhere
    try:
        code = commands(words, standalone_mode=False)
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
    text = error.format_message().replace("Value error, ", "").rstrip(".")
    if not text:  # called without a command: typer has printed the help already
        sys.exit(BadInput.exit_code)
    context = getattr(error, "ctx", None)
    return BadInput(f"{text} (see {context.command_path if context else 'regraph'} --help)")


def _end(error: RegraphError) -> NoReturn:
    if DEBUG in sys.argv:
        raise error
    # it loads pydantic, which help does not need
    from regraph_kg.models.text import plain  # noqa: PLC0415

    typer.echo(f"regraph: {plain(str(error))}", err=True)
    sys.exit(error.exit_code)
