"""`regraph doctor`: whether this machine has what regraph needs, and catches exploits."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from regraph_kg.cli.json_answers import answered
from regraph_kg.cli.parameters import Json, option
from regraph_kg.cli.progress import bar
from regraph_kg.cli.tables import PlainConsole
from regraph_kg.evaluation.doctor import CheckRow, Scope, rows
from regraph_kg.models.target import Target
from regraph_kg.settings import read_settings
from regraph_kg.wiring.doctor import examination

_COLOURS = {"green": "green", "red": "bold red", "absent": "bright_black"}


def doctor(
    target: Annotated[
        Target | None,
        option("Only this target's compiler, device and exploits.", show_default="all"),
    ] = None,
    quick: Annotated[bool, option("Judge no exploits, measure no peaks.")] = False,
    remeasure: Annotated[bool, option("Measure the device's peaks anew.")] = False,
    as_json: Json = False,
) -> None:
    """Check compilers, GPU, sandbox, store and models; judge a dozen exploits; say what to mend.

    green: works; red: matters and does not work; absent: not here, and not asked for.
    Takes some 20 to 30 seconds on two cores at rest. Exit code 0: nothing is red; 1: something is.
    """
    settings = read_settings()
    results: list[CheckRow] = []
    scope = Scope(settings.cache_dir, target, quick, remeasure)
    with examination(settings, scope) as checks, bar("doctor", len(checks)) as show:
        results += rows(checks, show)
    if not answered(results, as_json):
        _print(results)
    if any(row.state == "red" for row in results):
        raise typer.Exit(1)


def _print(rows: Sequence[CheckRow]) -> None:
    console = PlainConsole()
    console.print(_table([row for row in rows if not row.expected]))
    judged = [row for row in rows if row.expected]
    if judged:
        console.print(_table(judged))
    red = sum(row.state == "red" for row in rows)
    absent = sum(row.state == "absent" for row in rows)
    console.print(f"{len(rows) - red - absent} green, {red} red, {absent} absent")


def _table(rows: Sequence[CheckRow]) -> Table:
    """Remedies stand below what they mend, so that a narrow terminal shows both."""
    columns = ("", "mechanism", "expected", "got") if rows[0].expected else ("", "check", "found")
    table = Table(*columns, box=None, pad_edge=False)
    part = ""
    for row in rows:
        if row.part != part:
            part = row.part
            table.add_row("", Text(part, "bold"))
        state = Text(row.state, _COLOURS[row.state])
        text = row.found + (f"\nmend: {row.remedy}" if row.remedy else "")
        cells = (row.expected, text) if row.expected else (text,)
        table.add_row(state, f"  {row.name}", *cells)
    return table
