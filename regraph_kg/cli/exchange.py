"""`regraph graph export`, `restore` and `check`: a graph as a file; differences of two graphs."""

from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.progress import MofNCompleteColumn

from regraph_kg import atomic
from regraph_kg.cli.answers import FileWritten, answered
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.progress import bar, transient, watch
from regraph_kg.errors import BadInput, file_errors
from regraph_kg.models.difference import PartDifference
from regraph_kg.models.graph import GraphFinding, GraphStats
from regraph_kg.models.text import plain
from regraph_kg.runs.ingest import embed_new
from regraph_kg.runs.training import training_lines
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.stores import graph_difference, open_backup, open_store

SHOWN = 5
"""Differences of a kind that are listed; the rest are counted."""
FINDINGS_SHOWN = 20
PAIR = 2


ANSWERS = {
    "graph export": FileWritten,
    "graph restore": GraphStats,
    "graph check": tuple[GraphFinding, ...] | dict[str, PartDifference],
}
"""Of the export with --output; of the check differences of two graphs by part."""


def export(
    *,
    output: Annotated[
        Path | None, option("File to write.", "--output", "-o", show_default="standard output")
    ] = None,
    form: Annotated[
        Literal["jsonl", "sft", "backup"],
        option("Trajectories, examples to train a model on, or the whole graph.", "--format"),
    ] = "jsonl",
    unverified: Annotated[bool, option("sft: steps too that never passed.")] = False,
    force: Annotated[bool, option("backup: replace the file, once the new one is whole.")] = False,
    as_json: Json = False,
) -> None:
    """Write every trajectory, ordered by id, lines to train a model on, or the whole graph.

    "jsonl" is what `regraph ingest` reads. The techniques' definitions are not in it: regraph
    techniques show --json writes those, for regraph ingest --vocabulary.

    "sft" is a line for each verified step: its code before as a question, reasoning, technique and
    code after it as the answer ("messages"), and its measured effects (regraph docs ingest).

    "backup" is vocabulary, trajectories, failures, log and settings, for regraph graph restore. The
    same graph gives the same bytes, whichever store holds it. Embeddings are left out: they are
    made anew after a restore. What is ingested meanwhile may or may not be in.
    """
    if unverified and form != "sft":
        raise BadInput("--unverified is for --format sft: jsonl has every step")
    if output is None and (as_json or form == "backup"):
        raise BadInput(f"{'--json' if as_json else 'a backup'}: name the file with --output")
    if output is not None and form == "backup" and output.exists() and not force:
        raise BadInput(f"{output}: is there already; give another file, or --force to replace it")
    settings = read_settings()
    with transient(MofNCompleteColumn()) as progress, ExitStack() as opened:
        lines = _lines(opened, settings, form, unverified=unverified)
        lines = progress.track(lines, description="" if output is None else output.name)
        if output is None:
            for line in lines:
                typer.echo(line, nl=False)
            return
        with (
            file_errors(output, "give another --output"),
            atomic.replacing(output, mode=0o666, synced=True) as file,
        ):
            file.writelines(lines)
    size = output.stat().st_size
    if not answered(FileWritten, FileWritten(output, size), as_json) and form == "backup":
        typer.echo(f"{output}: {size / 1e6:.1f} MB; regraph graph restore brings it back")


def _lines(
    opened: ExitStack, settings: Settings, form: str, *, unverified: bool
) -> Iterable[bytes]:
    if form == "backup":
        return opened.enter_context(closing(open_backup(settings))).lines()
    trajectories = opened.enter_context(closing(open_store(settings))).export()
    if form == "sft":
        return (line.encode() for line in training_lines(trajectories, unverified=unverified))
    return (trajectory.line().encode() for trajectory in trajectories)


def compare(settings: Settings, a: str, b: str, *, as_json: bool) -> None:
    """Print the differences of two graphs; exit with 1 where there are any."""
    parts = graph_difference(settings, a, b)
    if not answered(dict[str, PartDifference], {part.part: part for part in parts}, as_json):
        for part in parts:
            _print(part, a, b)
    if not all(part.equal for part in parts):
        raise typer.Exit(1)


def _print(part: PartDifference, a: str, b: str) -> None:
    kinds = ((f"only in {a}", part.only_a), (f"only in {b}", part.only_b), ("other", part.changed))
    counts = ", ".join(f"{len(names)} {kind}" for kind, names in kinds if names)
    typer.echo(f"{part.part}: {part.same} the same" + (f", {counts}" if counts else ""))
    for kind, names in kinds:
        for name in names[:SHOWN]:
            typer.echo(plain(f"  {kind}: {name}"))
        if len(names) > SHOWN:
            typer.echo(f"  {kind}: {len(names) - SHOWN} more (--json lists all)")


def restore(
    file: Annotated[
        Path,
        argument("What regraph graph export --format backup wrote.", metavar="FILE"),
    ],
    as_json: Json = False,
) -> None:
    """Fill an empty database with the graph that FILE holds.

    Until it is through, nothing else opens the database. An interrupted restore is simply run
    again.
    """
    settings = read_settings()
    size = file.stat().st_size if file.is_file() else None
    with closing(open_backup(settings)) as graph, bar("restoring", size) as show:
        for restored in graph.restore(file):
            show(restored, "restoring")
    with closing(open_store(settings)) as store:
        stats = store.stats()
    if answered(GraphStats, stats, as_json):
        return
    typer.echo(
        f"restored: {stats.techniques} techniques, {stats.transitions} examples of"
        f" {stats.trajectories} trajectories; regraph graph check proves them"
    )


def check(
    *,
    graphs: Annotated[
        list[str] | None,
        argument(
            "Two graphs to compare: exports, backups, or stores.",
            metavar="[A B]",
            show_default="none: the graph alone",
        ),
    ] = None,
    repair: Annotated[bool, option("Rebuild what is derived.")] = False,
    as_json: Json = False,
) -> None:
    """Prove that statistics, failures and bookkeeping are what the trajectories say.

    Run it while nobody ingests: what is half-way then may be found too. Lost texts of
    steps cannot be rebuilt; restore a backup.

    With A and B, compare two graphs instead: trajectories, techniques, and statistics as the
    trajectories say them. Each is a file of regraph graph export, "embedded", or the URI of a
    store, whose user and password are those of the settings. Beside an export of trajectories,
    which does not describe techniques, those that steps lead to are compared by id.

    Exit code 1: something is wrong (with --repair: is still wrong), or A and B differ.
    """
    settings = read_settings()
    if graphs:
        if len(graphs) != PAIR or repair:
            raise BadInput("check: name two graphs, A and B, or none")
        compare(settings, *graphs, as_json=as_json)
        return
    with closing(open_store(settings)) as store:
        findings = store.check()
        mended = len(findings)
        if repair and findings:
            store.repair(findings)
            watch(embed_new(settings))
            findings = store.check()
        mended -= len(findings)
    if not answered(tuple[GraphFinding, ...], findings, as_json):
        for finding in findings[:FINDINGS_SHOWN]:
            typer.echo(
                f"{finding.kind}: {finding.source} -> {finding.target}: {finding.what}:"
                f" {finding.found}, but the trajectories say {finding.expected}"
            )
        _conclude(Counter(finding.kind for finding in findings), mended, repair=repair)
    if findings:
        raise typer.Exit(1)


def _conclude(kinds: Counter[str], mended: int, *, repair: bool) -> None:
    if mended:
        typer.echo(f"{mended} findings mended")
    if not kinds:
        typer.echo("the graph is what its trajectories say")
        return
    counts = ", ".join(f"{count} of kind {kind}" for kind, count in sorted(kinds.items()))
    lost = kinds["example"] > 0
    derived = kinds.total() > kinds["example"]
    advice = ["mend what is derived: regraph graph check --repair"] * (derived and not repair)
    advice += ["lost texts of steps come back from a backup only"] * lost
    typer.echo(
        f"{kinds.total()} findings ({counts}); {'; '.join(advice) or 'is somebody writing?'}"
    )
