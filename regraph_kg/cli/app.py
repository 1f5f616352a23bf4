"""`regraph`: the command tree; here an error becomes a line and an exit code."""

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any, NoReturn

import typer
import typer.core
import typer.main

from regraph_kg.cli.parameters import option
from regraph_kg.errors import BadInput, Interrupted, RegraphError

DEBUG = "--debug"
KEYBOARD_INTERRUPT = 130
"""Typer's result for a Ctrl-C that no command handled."""

COMMANDS: Mapping[str, str] = {
    "ingest": "Grow the graph from FILEs: Trajectory JSONL, or step lists [{think, method, detail,"
    " code}].",
    "next": "Say what the graph would try next on CODE_FILE, and why: gains, tries, when it"
    " applies.",
    "examples": "Show examples of the step from SOURCE to TARGET: code before and after, and its"
    " effect.",
    "optimize": "Search for a faster version of each PROBLEM: a model proposes, compiler and clock"
    " judge.",
    "evaluate": "Compile, run, verify and time each CANDIDATE; say how it compares with the serial"
    " code.",
    "learn": "Teach the graph what finished RUNs of `regraph optimize` found: their verified"
    " paths.",
    "apply": "Bring the fastest code of RUN home: show the change, ask, write it.",
    "runs": "Runs of regraph optimize: a table of all, what RUN found, or how RUN compares with"
    " OTHER.",
    "report": "Show RUNs of `regraph optimize` as one page for a browser: answer, tree, failures,"
    " cost.",
    "problem": "Problems: a folder with problem.toml and serial.cpp each (regraph docs problems).",
    "graph": "The graph as a whole: ask, look, check, back up, restore, purge.",
    "techniques": "Look at the techniques; mend the vocabulary.",
    "doctor": "Check compilers, GPU, sandbox, store and models; judge a dozen exploits; say what to"
    " mend.",
    "mcp": "Serve the graph and the judge to coding agents (Model Context Protocol).",
    "bench": "Compare methods at equal budgets: which share of PROBLEMs is solved, how fast, at"
    " what cost.",
    "collect": "Collect new trajectories: from a model's answers, a git history, or an evolution's"
    " programs.",
    "worker": "Judges on several hosts, by way of Ray: lend this host's devices, or start a"
    " cluster.",
    "docs": "Read a document: how problems are described, what the judge covers, every setting.",
    "dev": "For maintainers of a corpus or a vocabulary.",
}
"""Each is the function, or the `app` of commands, of the module of its name in this folder; the
line is how its help begins, for the list of all. A module's `EPILOG` stands below the options."""


class _Commands(typer.core.TyperGroup):
    """Imports a command's module when it is called; the list of all needs none of them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {
            name: typer.core.TyperCommand(name, help=line) for name, line in COMMANDS.items()
        }

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _command(cmd_name) if cmd_name in self.commands else None

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Help with the lines of `COMMANDS`."""
        listed = typer.core.TyperGroup(
            name=self.name,
            commands=dict(self.commands),
            params=self.params,
            help=self.help,
            epilog=self.epilog,
        )
        listed.format_help(ctx, formatter)


def _command(name: str) -> Any:
    module = import_module(f"regraph_kg.cli.{name.replace('-', '_')}")
    alone = typer.Typer(add_completion=False)
    if hasattr(module, "app"):
        alone.add_typer(module.app, name=name)
    else:
        epilog = getattr(module, "EPILOG", None)
        alone.command(name, epilog=epilog)(getattr(module, name.replace("-", "_")))
    alone.callback()(_root)  # a callback makes it a group
    command = typer.main.get_group(alone).commands[name]
    for each in (command, *getattr(command, "commands", {}).values()):
        _drop_no_forms(each)
    return command


def _drop_no_forms(command: Any) -> None:
    """Take `--no-NAME` from the switches that are off by default."""
    for parameter in command.params:
        if parameter.default is False:
            parameter.secondary_opts = []


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
