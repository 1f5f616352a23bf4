"""`regraph problem`: checks of problems before code is judged by them."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.answers import answered
from regraph_kg.cli.completion import complete_problem
from regraph_kg.cli.first_look import checked, print_checkup
from regraph_kg.cli.new_problem import ANSWERS as NEW_ANSWERS
from regraph_kg.cli.new_problem import new
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.tables import print_rows
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.checkup.checkup import Checkup
from regraph_kg.evaluation.checkup.findings import error
from regraph_kg.evaluation.problem.problem import AnyProblem, ProjectProblem
from regraph_kg.settings import Settings, read_settings


@dataclass(frozen=True, slots=True)
class ProblemLine:
    """A problem in the list."""

    problem: str
    where: str
    """The problem's origin, or why it cannot be read."""
    entry: str
    timed_at: str


ANSWERS = {
    **NEW_ANSWERS,
    "problem check": Sequence[Checkup] | Sequence[ProblemLine],
}
"""The second with --list."""

app = typer.Typer(no_args_is_help=True)
app.command()(new)


@app.callback()
def _root() -> None:
    """Problems: a folder with problem.toml and serial.cpp each (regraph docs problems)."""


@app.command()
def check(
    problems: Annotated[
        list[str] | None,
        argument(
            "Names or folders; all of this folder and the corpus if none.",
            metavar="PROBLEM",
            autocompletion=complete_problem,
        ),
    ] = None,
    only_list: Annotated[
        bool, option("Only list them, and where each comes from.", "--list")
    ] = False,
    as_json: Json = False,
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
    if only_list:
        lines = [_listed(settings, name) for name in names]
        if not answered(Sequence[ProblemLine], lines, as_json):
            print_rows(("problem", "where", "entry", "timed at"), map(astuple, lines))
        return
    checkups = [_looked_at(settings, name) for name in names]
    if not answered(Sequence[Checkup], checkups, as_json):
        for checkup in checkups:
            print_checkup(checkup)
    if any(checkup.errors for checkup in checkups):
        raise typer.Exit(BadInput.exit_code)


def _listed(settings: Settings, name: str) -> ProblemLine:
    """A row; a problem that cannot be read says why."""
    try:
        problem = wiring.find_problem(settings, name)
    except BadInput as failed:
        return ProblemLine(name, str(failed), "", "")
    where = wiring.chosen_problem(settings, name).removeprefix(f"{name}, ")
    return ProblemLine(name, where, problem.entry, _timed_at(problem))


def _timed_at(problem: AnyProblem) -> str:
    if isinstance(problem, ProjectProblem):
        return problem.commands.bench
    return ", ".join(f"{name} = {extent}" for name, extent in problem.sizes.time.items())


def _looked_at(settings: Settings, name: str) -> Checkup:
    """The check of a problem; one that cannot be read has one error."""
    try:
        return checked(settings, name)
    except BadInput as failed:
        return Checkup(name, (error("problem.toml", str(failed)),), 0.0)
