"""`regraph`: the command tree; here an error becomes a line and an exit code."""

import ast
import sys
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from typing import Annotated, Any, NoReturn

import typer
import typer.core
import typer.main

from regraph_kg.cli.parameters import option
from regraph_kg.errors import BadInput, Interrupted, RegraphError

DEBUG = "--debug"
KEYBOARD_INTERRUPT = 130
"""Typer's result for a Ctrl-C that no command handled."""

COMMANDS = (
    *("ingest", "next", "examples", "optimize", "evaluate", "learn", "apply", "runs", "report"),
    *("problem", "graph", "techniques", "doctor", "mcp", "bench", "collect", "docs"),
    *("corpus", "dev"),
)
"""Each is the function, or the `app` of commands, of the module of its name in this folder. A
module's `EPILOG` stands below the options."""


class _Commands(typer.core.TyperGroup):
    """Imports a command's module when it is called; the list of all needs none of them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {name: typer.core.TyperCommand(name) for name in COMMANDS}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _command(cmd_name) if cmd_name in self.commands else None

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Help with the first sentence of each command."""
        listed = typer.core.TyperGroup(
            name=self.name,
            commands={name: typer.core.TyperCommand(name, help=line(name)) for name in COMMANDS},
            params=self.params,
            help=self.help,
            epilog=self.epilog,
        )
        listed.format_help(ctx, formatter)


def line(name: str) -> str:
    """How a command's help begins, read from its module, which takes long to load."""
    module = files("regraph_kg.cli").joinpath(f"{name}.py").read_text(encoding="utf-8")
    functions = (node for node in ast.parse(module).body if isinstance(node, ast.FunctionDef))
    command = next(node for node in functions if node.name in {name, "_root"})
    return (ast.get_docstring(command) or "").partition("\n\n")[0]


def _command(name: str) -> Any:
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


def main() -> None:
    """Entry point of the `regraph` script: every ending gets a documented exit code."""
    words = [word for word in sys.argv[1:] if word != DEBUG]  # --debug may stand anywhere
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
    context = getattr(error, "ctx", None)
    return BadInput(f"{text} (see {context.command_path if context else 'regraph'} --help)")


def _end(error: RegraphError) -> NoReturn:
    if DEBUG in sys.argv:
        raise error
    from regraph_kg.models.text import plain  # noqa: PLC0415 (loads pydantic; help needs none)

    typer.echo(f"regraph: {plain(str(error))}", err=True)
    sys.exit(error.exit_code)
