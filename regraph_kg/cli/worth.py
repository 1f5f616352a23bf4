"""`regraph graph report`: what the graph's edges were worth to searches."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from regraph_kg.cli.json_answer import answered
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.tables import counted, print_rows
from regraph_kg.errors import BadInput
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.target import TARGETS
from regraph_kg.runs.worth import EdgeWorth, worth
from regraph_kg.search.run_record import RunRecord
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.key import trace_key

ANSWERS = {"graph report": Sequence[EdgeWorth]}
FOLDERS = (Path("bench"), Path("runs"))


def report(
    folders: Annotated[
        list[Path] | None,
        argument("Folders with traces.", metavar="[FOLDER...]", show_default="bench and runs"),
    ] = None,
    *,
    limit: Annotated[int, option("Rows of a target, at most.", min=1)] = 40,
    as_json: Json = False,
) -> None:
    """Show what each edge was worth to the searches in FOLDERs.

    asked: requests that told its technique. applied: right codes that show it. passed: all right
    codes. faster: those that made the code before them faster by 5 %. In a bench one request in
    ten, drawn by chance, does not tell the model the technique: the uplift is the share of faster
    steps of an edge less that of these, with its 95 % interval, in searches that have such
    requests. Runs of a recorded model or judge, or with a shuffled graph, are left out.

    Exit code 2: no folder, or no step in it.
    """
    read = list(_runs(read_settings(), folders or [one for one in FOLDERS if one.is_dir()]))
    edges = worth(read)
    if not edges:
        raise BadInput(
            f"graph report: {counted(len(read), 'run')} and no step that the graph proposed in"
            f" {', '.join(map(str, folders or FOLDERS))}/; regraph bench makes some"
        )
    if not answered(Sequence[EdgeWorth], edges, as_json):
        by_target = [[edge for edge in edges if edge.target == target] for target in TARGETS]
        _print([edge for rows in by_target for edge in rows[:limit]])
        if cut := sum(len(rows[limit:]) for rows in by_target):
            typer.echo(f"{cut} more rows; --limit shows more", err=True)


def _runs(settings: Settings, folders: Sequence[Path]) -> Iterator[RunRecord]:
    """Runs of a model that answered; what is no trace is passed over."""
    for folder in folders:
        if not folder.is_dir():
            raise BadInput(f"{folder}: no such folder; give one of regraph bench --into")
    traces = {path.resolve() for folder in folders for path in folder.rglob("*.jsonl")}
    for path in sorted(traces):
        try:
            run = RunRecord.read(path, trace_key(settings))
        except BadInput:
            continue
        spec = ModelSpec.traced(run.header.model)
        if spec is None or not spec.is_recorded:
            yield run


def _print(edges: Sequence[EdgeWorth]) -> None:
    rows = []
    for edge in edges:
        short = f"{edge.target}/"
        names = (edge.source.removeprefix(short), edge.technique.removeprefix(short))
        told, withheld = edge.told, edge.withheld
        named = f"{edge.target}: {' -> '.join(names) if edge.source else 'all edges'}"
        counts = (told.asked, told.applied, told.passed, told.faster)
        without = "" if edge.source else f"{withheld.faster} of {withheld.asked}"
        rows.append((named, *map(str, counts), without, _uplift(edge)))
    heads = ("edge", "asked", "applied", "passed", "faster", "withheld", "uplift")
    print_rows(heads, rows, (1, 2, 3, 4, 5))


def _uplift(edge: EdgeWorth) -> str:
    if edge.uplift is None or edge.low is None or edge.high is None:
        return "-"
    return f"{edge.uplift:+.0%} ({edge.low:+.0%} to {edge.high:+.0%})"
