"""Output of the check of a problem before its use. `regraph problem` itself: problem.py."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from regraph_kg.cli.progress import telling
from regraph_kg.errors import BadInput
from regraph_kg.models.text import counted
from regraph_kg.settings import Settings
from regraph_kg.wiring.problems import beats_shipped, check_problem, chosen_problem, first_use

if TYPE_CHECKING:  # numpy comes with it, which a search does not need
    from regraph_kg.evaluation.checkup.checkup import Checkup


def require_good(settings: Settings, names: Sequence[str]) -> None:
    """Check problems before they are used; new results go to stderr.

    Raises `BadInput` for an error of a single problem; of several problems, their searches report
    errors. A cluster's hosts check their problems themselves.
    """
    if settings.workers:
        return
    for name in names:
        try:
            checkup = checked(settings, name)
        except BadInput:
            if len(names) == 1:
                raise
            continue
        if checkup.errors and len(names) == 1:
            raise BadInput(f"problem {checkup.problem}: {checkup.errors[0]}")
        if checkup.seconds is not None:
            print_checkup(checkup, err=True)


def checked(settings: Settings, name: str) -> "Checkup":
    """The check of a problem; slow stages show on stderr."""
    if beats_shipped(settings, name):
        typer.echo(f"problem {name}: {chosen_problem(settings, name)}", err=True)
    notice = first_use(settings, name)
    if notice:
        typer.echo(notice, err=True)
    with telling() as tell:
        return check_problem(settings, name, tell)


def print_checkup(checkup: "Checkup", *, err: bool = False) -> None:
    """A line for the problem, and one for each finding."""
    errors = len(checkup.errors)
    kinds = {"error": errors, "note": len(checkup.findings) - errors}
    counts = [counted(count, kind) for kind, count in kinds.items() if count]
    seconds = checkup.seconds
    took = f"looked at in {seconds:.1f} s" if seconds is not None else "looked at before"
    typer.echo(f"{checkup.problem}: {', '.join(counts) or 'good'} ({took})", err=err)
    for finding in checkup.findings:
        typer.echo(f"  {finding.severity:<5}  {finding}", err=err)
