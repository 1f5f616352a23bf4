"""`regraph techniques`: the graph's knowledge of techniques."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Annotated

import typer

from regraph_kg import report
from regraph_kg.cli.completion import complete_technique
from regraph_kg.cli.json_answers import answered
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.tables import PlainConsole, print_rows
from regraph_kg.models.graph import Neighbourhood, Successor
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique
from regraph_kg.runs.technique_names import by_id, resolve
from regraph_kg.settings import read_settings
from regraph_kg.wiring.stores import open_store


@dataclass(frozen=True, slots=True)
class TechniqueShown:
    """A technique and its observed successors."""

    technique: Technique
    successors: tuple[Successor, ...]


app = typer.Typer(no_args_is_help=True)


@app.callback()
def _root() -> None:
    """Look at the techniques."""


@app.command()
def show(
    *,
    technique: Annotated[
        str | None,
        argument(
            "Its id, name or alias.",
            metavar="ID",
            show_default="a list of all",
            autocompletion=complete_technique,
        ),
    ] = None,
    target: Annotated[
        Target | None, option("Only this target's; where a name is looked up.")
    ] = None,
    device: Annotated[str, option("Whose statistics, if it has any.", show_default="all")] = "",
    as_json: Json = False,
) -> None:
    """Show one technique: what it is, and what was seen to follow it, with what effect.

    Without ID, list all with their other names; as JSON, a file for regraph ingest --vocabulary.
    """
    if technique is None:
        _list(target, as_json=as_json)
    else:
        _show(technique, target, device, as_json=as_json)


def _list(target: Target | None, *, as_json: bool) -> None:
    with closing(open_store(read_settings())) as store:
        techniques = store.techniques(target)
    if answered(techniques, as_json):
        return
    rows = ((one.id, one.name, ", ".join(sorted(one.aliases))) for one in techniques)
    print_rows(("id", "name", "also called"), rows, {0})


def _show(technique: str, target: Target | None, device: str, *, as_json: bool) -> None:
    with closing(open_store(read_settings())) as store:
        techniques = by_id(store.techniques())
        resolved = techniques[resolve(technique, techniques, target)]
        neighbourhood = store.neighbourhood(resolved.id, device=device)
    if not answered(TechniqueShown(resolved, neighbourhood.successors), as_json):
        _print(resolved, neighbourhood, device)


def _print(technique: Technique, neighbourhood: Neighbourhood, device: str) -> None:
    console = PlainConsole()
    console.print(f"{technique.name} ({technique.id})", style="bold")
    texts = {"": technique.definition, "When: ": technique.applies, "It hurts: ": technique.hurts}
    for label, text in texts.items():
        if text:
            console.print(f"{label}{text}")
    if technique.aliases:
        console.print(f"Also called: {', '.join(sorted(technique.aliases))}")
    if technique.source:
        console.print(f"Described in: {technique.source}")
    if not neighbourhood.successors:
        console.print("Nothing was seen to follow it.")
        return
    headings = ("examples", "tried", "verified", "declined", "effect", "")
    rows = (_cells(successor, device) for successor in neighbourhood.successors)
    print_rows(("followed by", *headings), rows, range(1, 6), console)


def _cells(successor: Successor, device: str) -> Iterator[str]:
    yield successor.technique.id
    yield from map(str, (successor.examples, successor.tried))
    yield from map(str, (successor.verified, successor.declined))
    yield "-" if successor.effect is None else report.times(successor.effect)
    yield "other devices" if device and successor.statistics == "other-devices" else ""
