"""`regraph problem`: problems themselves, judged before anything is judged by them."""

import json
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.progress import telling
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.checkup.checkup import Checkup
from regraph_kg.evaluation.checkup.findings import error
from regraph_kg.settings import Settings, read_settings

app = typer.Typer(no_args_is_help=True)


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
            _print(one, typer.echo)
    if any(one.errors for one in seen):
        raise typer.Exit(BadInput.exit_code)


def require_good(settings: Settings, names: Sequence[str]) -> None:
    """Look at problems before they are used; what is new is told on stderr.

    Raises `BadInput` where there is one problem and it has an error; of several, the searches of
    those say so themselves. A cluster's hosts look at what they are given.
    """
    if settings.workers:
        return
    for name in names:
        try:
            seen = _checked(settings, name)
        except BadInput:
            if len(names) == 1:
                raise
            continue
        if seen.errors and len(names) == 1:
            raise BadInput(f"problem {seen.problem}: {seen.errors[0]}")
        if seen.seconds is not None:
            _print(seen, lambda line: typer.echo(line, err=True))


def _looked_at(settings: Settings, name: str) -> Checkup:
    """As `_checked`; a problem that cannot be read is one error among the others' findings."""
    try:
        return _checked(settings, name)
    except BadInput as failed:
        return Checkup(name, (error("problem.toml", str(failed)),), 0.0)


def _checked(settings: Settings, name: str) -> Checkup:
    if wiring.beats_shipped(settings, name):
        typer.echo(f"problem {name}: {wiring.chosen_problem(settings, name)}", err=True)
    told = wiring.first_use(settings, name)
    if told:
        typer.echo(told, err=True)
    with telling() as tell:
        return wiring.check_problem(settings, name, tell)


def _print(seen: Checkup, line: Callable[[str], object]) -> None:
    errors = len(seen.errors)
    notes = len(seen.findings) - errors
    counts = [
        f"{count} {kind}{'s' * (count > 1)}"
        for count, kind in ((errors, "error"), (notes, "note"))
        if count
    ]
    took = f"looked at in {seen.seconds:.1f} s" if seen.seconds is not None else "looked at before"
    line(f"{seen.problem}: {', '.join(counts) or 'good'} ({took})")
    for found in seen.findings:
        line(f"  {found.severity:<5}  {found}")


def _plain(seen: Checkup) -> dict[str, object]:
    return {
        "problem": seen.problem,
        "seconds": seen.seconds,
        "findings": [found.model_dump(mode="json") for found in seen.findings],
    }
