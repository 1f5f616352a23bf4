"""`regraph graph export`, `diff` and `import`: what a graph holds as files, and what two have."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

import typer

from regraph_kg import atomic, wiring
from regraph_kg.cli import ingest
from regraph_kg.cli.answers import tell
from regraph_kg.errors import BadInput
from regraph_kg.models.difference import PartDifference
from regraph_kg.models.text import plain
from regraph_kg.runs.training import training_lines
from regraph_kg.settings import read_settings

SHOWN = 5
"""Differences of a kind that are listed; the rest are counted."""


ANSWERS = {"graph diff": dict[str, PartDifference], "graph import": ingest.ANSWERS["ingest"]}
"""Differences by part."""


def export(
    *,
    output: Annotated[
        Path | None, typer.Option(help="File to write.", show_default="standard output")
    ] = None,
    form: Annotated[
        Literal["jsonl", "sft"],
        typer.Option("--format", help="Trajectories, or examples to train a model on."),
    ] = "jsonl",
    unverified: Annotated[
        bool, typer.Option("--unverified", help="sft: steps too that never passed.")
    ] = False,
) -> None:
    """Write every trajectory, ordered by id: as Trajectory JSONL, or as lines to train a model on.

    "jsonl" is what `regraph ingest` and `regraph graph import` read. The techniques' definitions
    are not in it: regraph techniques list --json writes those, for regraph ingest --vocabulary.

    "sft" is a line for each verified step: its code before as a question, reasoning, technique and
    code after it as the answer ("messages"), and its measured effects (regraph docs ingest).
    """
    if unverified and form != "sft":
        raise BadInput("--unverified is for --format sft: jsonl has every step")
    with closing(wiring.open_store(read_settings())) as store:
        found = store.export()
        lines = (
            training_lines(found, unverified=unverified)
            if form == "sft"
            else (one.line() for one in found)
        )
        if output is None:
            for line in lines:
                typer.echo(line, nl=False)
        else:
            _write(lines, output)


def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="An export, a backup, or a store.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print all differences as JSON.")] = False,
) -> None:
    """Compare two graphs: trajectories, techniques, and statistics as the trajectories say them.

    A and B are files of regraph graph export or backup, "embedded", or URIs of stores, whose user
    and password are those of the settings. Beside an export, which does not describe techniques,
    those that steps lead to are compared by id.

    Exit code 0: they hold the same; 1: they differ.
    """
    found = wiring.graph_difference(read_settings(), a, b)
    if as_json:
        tell(ANSWERS["graph diff"], {one.part: one for one in found})
    else:
        for one in found:
            _print(one, a, b)
    if not all(one.equal for one in found):
        raise typer.Exit(1)


def import_(
    file: Annotated[
        str, typer.Argument(metavar="FILE|starter", help="An export, or what comes with regraph.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Add an export's trajectories, or the starter graph's, under the techniques that they name.

    As regraph ingest --relabel exact FILE, or regraph ingest --starter. A backup is for
    regraph graph restore.
    """
    if file == "starter":
        ingest.ingest(starter=True, as_json=as_json)
    else:
        ingest.ingest(files=[Path(file)], relabel="exact", as_json=as_json)


def _write(lines: Iterable[str], path: Path) -> None:
    """All of it or nothing: a file that was there stays until the new one is whole."""
    try:
        with atomic.replacing(path, mode=0o666) as file:
            file.writelines(map(str.encode, lines))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; give another --output") from None


def _print(one: PartDifference, a: str, b: str) -> None:
    kinds = ((f"only in {a}", one.only_a), (f"only in {b}", one.only_b), ("other", one.changed))
    counts = ", ".join(f"{len(names)} {kind}" for kind, names in kinds if names)
    typer.echo(f"{one.part}: {one.same} the same" + (f", {counts}" if counts else ""))
    for kind, names in kinds:
        for name in names[:SHOWN]:
            typer.echo(plain(f"  {kind}: {name}"))
        if len(names) > SHOWN:
            typer.echo(f"  {kind}: {len(names) - SHOWN} more (--json lists all)")
