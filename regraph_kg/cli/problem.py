"""`regraph problem`: problems themselves, judged before anything is judged by them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import JsonValue
from rich.table import Table

from regraph_kg import wiring
from regraph_kg.cli.answers import tell
from regraph_kg.cli.completion import complete_problem
from regraph_kg.cli.first_look import checked, print_checkup
from regraph_kg.cli.new_problem import ANSWERS as NEW_ANSWERS
from regraph_kg.cli.new_problem import new
from regraph_kg.cli.tables import PlainConsole, print_table
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.checkup.checkup import Checkup
from regraph_kg.evaluation.checkup.findings import ProblemFinding, error
from regraph_kg.settings import Settings, read_settings

if TYPE_CHECKING:  # numpy comes with it
    from regraph_kg.evaluation.problem.problem import AnyProblem, ProjectProblem


@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """What was found of a problem."""

    problem: str
    seconds: float | None
    """Of a call of the serial code; None where it was not timed."""
    findings: Sequence[ProblemFinding]


@dataclass(frozen=True, slots=True)
class ProblemLine:
    """A problem in the list."""

    problem: str
    where: str
    """Where it comes from; of one that cannot be read, why."""
    entry: str
    timed_at: str


ANSWERS = {
    **NEW_ANSWERS,
    "problem check": Sequence[CheckAnswer],
    "problem list": Sequence[ProblemLine],
    "problem show": dict[str, JsonValue],
}
"""A problem is shown as it is declared (regraph docs problems), with its code and its `home`."""

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
            metavar="PROBLEM",
            help="Names or folders; all of this folder and the corpus if none.",
            autocompletion=complete_problem,
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
        tell(ANSWERS["problem check"], [_plain(one) for one in seen])
    else:
        for one in seen:
            print_checkup(one, typer.echo)
    if any(one.errors for one in seen):
        raise typer.Exit(BadInput.exit_code)


@app.command("list")
def list_(
    as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False,
) -> None:
    """List the problems of this folder and of the corpus, and where each comes from."""
    settings = read_settings()
    names = wiring.problem_names(settings)
    rows = [_listed(settings, name) for name in names]
    if as_json:
        tell(ANSWERS["problem list"], rows)
        return
    table = Table("problem", "where", "entry", "timed at", box=None, pad_edge=False)
    for row in rows:
        table.add_row(row.problem, row.where, row.entry, row.timed_at)
    print_table(table, ())


@app.command()
def show(
    problem: Annotated[
        str,
        typer.Argument(
            metavar="PROBLEM", help="A name, or a folder.", autocompletion=complete_problem
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show a problem as the judge reads it: arguments, shapes, tolerance, code, and its origin."""
    settings = read_settings()
    found, home = wiring.find_problem(settings, problem), wiring.home_of(settings, problem)
    from regraph_kg.evaluation.problem.problem import ProjectProblem  # noqa: PLC0415

    if as_json:
        plain = found.model_dump(mode="json", by_alias=True)
        plain["home"] = home.model_dump(mode="json", by_alias=True) if home else None
        tell(ANSWERS["problem show"], plain)
        return
    console = PlainConsole()
    console.print(f"{found.name}: {wiring.chosen_problem(settings, problem)}", style="bold")
    if home:
        console.print(
            f"made of {home.function}, {home.file}, lines {home.lines[0]}-{home.lines[1]}"
        )
    if isinstance(found, ProjectProblem):
        _show_project(console, found)
        return
    table = Table("argument", "type", "role", "shape, or value", box=None, pad_edge=False)
    for arg in found.args:
        extent = arg.size if arg.size is not None else arg.value
        table.add_row(arg.name, arg.type, arg.role, ", ".join(arg.shape) or str(extent))
    print_table(table, (), console)
    tolerance = found.tolerance
    said = tolerance if isinstance(tolerance, str) else tolerance.model_dump(mode="json")
    console.print(f"tolerance {said}, metric {found.metric}, timed at {_timed_at(found)}")
    console.print(f"\n{found.serial_code}", soft_wrap=True)


def _show_project(console: PlainConsole, found: "ProjectProblem") -> None:
    """A problem of a project's own commands."""
    told = found.commands
    rows = {
        "project": found.folder,
        "file": told.file,
        "function": found.signature() or found.entry,
        "build": "; ".join(told.build) or "none",
        "test": "; ".join(told.test),
        "must print": "; ".join(told.passed),
        "bench": told.bench,
        "guarantee": found.guarantee,
    }
    for name, said in rows.items():
        console.print(f"{name:<10}  {said}", soft_wrap=True)
    console.print(f"\n{found.serial_code}", soft_wrap=True)


def _listed(settings: Settings, name: str) -> ProblemLine:
    """A row; a problem that cannot be read says why."""
    try:
        found = wiring.find_problem(settings, name)
    except BadInput as failed:
        return ProblemLine(name, str(failed), "", "")
    where = wiring.chosen_problem(settings, name).removeprefix(f"{name}, ")
    return ProblemLine(name, where, found.entry, _timed_at(found))


def _timed_at(problem: "AnyProblem") -> str:
    from regraph_kg.evaluation.problem.problem import ProjectProblem  # noqa: PLC0415

    if isinstance(problem, ProjectProblem):
        return problem.commands.bench
    return ", ".join(f"{name} = {extent}" for name, extent in problem.sizes.time.items())


def _looked_at(settings: Settings, name: str) -> Checkup:
    """As `checked`; a problem that cannot be read is one error among the others' findings."""
    try:
        return checked(settings, name)
    except BadInput as failed:
        return Checkup(name, (error("problem.toml", str(failed)),), 0.0)


def _plain(seen: Checkup) -> CheckAnswer:
    return CheckAnswer(seen.problem, seen.seconds, seen.findings)
