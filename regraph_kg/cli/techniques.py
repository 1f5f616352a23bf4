"""`regraph techniques`: what the graph knows of techniques, and which one a name means."""

from contextlib import closing
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.table import Table

from regraph_kg import report, wiring
from regraph_kg.cli import audit, curation
from regraph_kg.cli.answers import tell
from regraph_kg.cli.completion import complete_technique
from regraph_kg.cli.tables import PlainConsole, print_table
from regraph_kg.models.graph import Neighbourhood, Successor
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique
from regraph_kg.runs.technique_names import by_id, resolve
from regraph_kg.settings import read_settings


@dataclass(frozen=True, slots=True)
class TechniqueShown:
    """A technique, and what was seen to follow it."""

    technique: Technique
    successors: tuple[Successor, ...]


ANSWERS = {
    "techniques list": tuple[Technique, ...],
    "techniques show": TechniqueShown,
    **audit.ANSWERS,
    **curation.ANSWERS,
}

app = typer.Typer(no_args_is_help=True, help="Look at the techniques; mend the vocabulary.")
for command in (*audit.COMMANDS, *curation.COMMANDS):
    app.command()(command)


@app.command("list")
def list_(
    target: Annotated[Target | None, typer.Option(help="Only this target's.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a vocabulary file: regraph ingest --vocabulary.")
    ] = False,
) -> None:
    """List the techniques that the graph knows, with their other names."""
    with closing(wiring.open_store(read_settings())) as store:
        found = store.techniques(target)
    if as_json:
        tell(ANSWERS["techniques list"], found)
        return
    table = Table("id", "name", "also called", box=None, pad_edge=False)
    for technique in found:
        table.add_row(technique.id, technique.name, ", ".join(sorted(technique.aliases)))
    print_table(table, {0})


@app.command()
def show(
    technique: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="Its id, name or alias.", autocompletion=complete_technique
        ),
    ],
    target: Annotated[Target | None, typer.Option(help="Where a name is looked up.")] = None,
    device: Annotated[
        str, typer.Option(help="Whose statistics, if it has any.", show_default="all")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show one technique: what it is, and what was seen to follow it, with what effect."""
    with closing(wiring.open_store(read_settings())) as store:
        known = by_id(store.techniques())
        found = known[resolve(technique, known, target)]
        neighbourhood = store.neighbourhood(found.id, device=device)
    if as_json:
        tell(TechniqueShown, TechniqueShown(found, neighbourhood.successors))
    else:
        _print(found, neighbourhood, device)


def _print(technique: Technique, neighbourhood: Neighbourhood, device: str) -> None:
    console = PlainConsole()
    console.print(f"{technique.name} ({technique.id})", style="bold")
    told = {"": technique.definition, "When: ": technique.applies, "It hurts: ": technique.hurts}
    for label, text in told.items():
        if text:
            console.print(f"{label}{text}")
    if technique.aliases:
        console.print(f"Also called: {', '.join(sorted(technique.aliases))}")
    if not neighbourhood.successors:
        console.print("Nothing was seen to follow it.")
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("followed by", overflow="fold")
    for heading in ("examples", "tried", "verified", "declined", "effect", "best", ""):
        table.add_column(heading)
    for successor in neighbourhood.successors:
        best = successor.best_effect
        table.add_row(
            successor.technique.id,
            *(str(n) for n in (successor.examples, successor.tried, successor.verified)),
            str(successor.declined),
            "-" if successor.effect is None else report.times(successor.effect),
            "-" if best is None else report.times(best),
            "other devices" if device and successor.statistics == "other-devices" else "",
        )
    print_table(table, range(1, 7), console)
