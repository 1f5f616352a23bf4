"""`regraph techniques`: what the graph knows of techniques, and which one a name means."""

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from difflib import get_close_matches
from typing import Annotated

import typer
from pydantic import TypeAdapter
from rich.table import Table

from regraph_kg import report, wiring
from regraph_kg.cli import audit, curation
from regraph_kg.cli.completion import complete_technique
from regraph_kg.cli.tables import PlainConsole, print_table
from regraph_kg.errors import BadInput
from regraph_kg.models.graph import EFFECT_SCALE, Neighbourhood, Successor
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.models.technique import Technique, Vocabulary, spelling, start_id
from regraph_kg.settings import read_settings

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
        typer.echo(TypeAdapter(tuple[Technique, ...]).dump_json(found, indent=2))
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
        successors = _SUCCESSORS.dump_python(neighbourhood.successors, mode="json")
        typer.echo(
            json.dumps({"technique": found.model_dump(), "successors": successors}, indent=2)
        )
    else:
        _print(found, neighbourhood, device)


def by_id(techniques: Sequence[Technique]) -> Mapping[str, Technique]:
    """A graph's techniques, its initial states included."""
    starts = (Technique(id=start_id(t), name="Serial code", target=t) for t in TARGETS)
    return {technique.id: technique for technique in (*starts, *techniques)}


def resolve(name: str, known: Mapping[str, Technique], target: Target | None) -> str:
    """The id that `name` (an id, name or alias) means; `BadInput` says what it could have been."""
    if name in known:
        return name
    vocabulary = Vocabulary((), tuple(known.values()))
    matches = [vocabulary.find(name, one) for one in ([target] if target else TARGETS)]
    found = [match.technique for match in matches if match is not None]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInput(f"technique {name!r} is {' and '.join(found)}: give --target, or the id")
    by_slug = {key.partition("/")[2]: key for key in known if target in (None, known[key].target)}
    near = get_close_matches(spelling(name).replace(" ", "-"), by_slug, n=3)
    hint = f"; near it: {', '.join(by_slug[slug] for slug in near)}" if near else ""
    raise BadInput(f"technique {name!r} is not in the graph (regraph techniques list){hint}")


_SUCCESSORS = TypeAdapter(tuple[Successor, ...])


def mean_effect(successor: Successor) -> float:
    """Geometric mean of the effects of a successor's verified steps; needs one at least."""
    return float(2 ** (successor.sum_log2_effect / EFFECT_SCALE / successor.verified))


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
            report.times(mean_effect(successor)) if successor.verified else "-",
            "-" if best is None else report.times(best),
            "other devices" if device and successor.statistics == "other-devices" else "",
        )
    print_table(table, range(1, 7), console)
