"""`regraph problem`: problems themselves, judged before anything is judged by them."""

import json
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.first_look import checked, print_checkup
from regraph_kg.cli.new_problem import new
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.checkup.checkup import Checkup
from regraph_kg.evaluation.checkup.findings import error
from regraph_kg.settings import Settings, read_settings

app = typer.Typer(no_args_is_help=True)
app.command()(new)


@app.callback()
def _root() -> None:
    """Problems: a folder with problem.toml and serial.cpp each (regraph docs problems)."""


@app.command()
def check(
    problems: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PROBLEM", help="Names or folders; all of this folder and the corpus if none."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what is found as JSON.")] = False,
) -> None:
    """Look whether PROBLEM says what is true and can be measured; `optimize` looks, too.

    The serial code compiles and has the declared signature, is right at every shape, the tolerance
    has room and shows a lower precision, there is something to compute, time and memory are fit.
    Each finding is a line that ends with what to write. It takes seconds once, then nothing.

    Exit code 0: no errors, though there may be notes; 2: errors, with which no search starts.
    """
    settings = read_settings()
    names = problems or wiring.problem_names(settings)
    if not names:
        raise BadInput("no problems here, nor in the corpus; name a folder")
    seen = [_looked_at(settings, name) for name in names]
    if as_json:
        typer.echo(json.dumps([_plain(one) for one in seen], indent=2))
    else:
        for one in seen:
            print_checkup(one, typer.echo)
    if any(one.errors for one in seen):
        raise typer.Exit(BadInput.exit_code)


def _looked_at(settings: Settings, name: str) -> Checkup:
    """As `checked`; a problem that cannot be read is one error among the others' findings."""
    try:
        return checked(settings, name)
    except BadInput as failed:
        return Checkup(name, (error("problem.toml", str(failed)),), 0.0)


def _plain(seen: Checkup) -> dict[str, object]:
    return {
        "problem": seen.problem,
        "seconds": seen.seconds,
        "findings": [found.model_dump(mode="json") for found in seen.findings],
    }
