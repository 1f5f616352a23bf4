"""`regraph graph export` and `check`: a graph as a file, and whether it is sound."""

from collections.abc import Iterable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.progress import MofNCompleteColumn

from regraph_kg import atomic
from regraph_kg.cli.json_answers import FileWritten, answered
from regraph_kg.cli.parameters import Json, option
from regraph_kg.cli.progress import transient
from regraph_kg.errors import BadInput, file_errors
from regraph_kg.runs.training import training_lines
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.stores import open_store

FINDINGS_SHOWN = 20


def export(
    *,
    output: Annotated[
        Path | None, option("File to write.", "--output", "-o", show_default="standard output")
    ] = None,
    form: Annotated[
        Literal["jsonl", "sft"],
        option("Trajectories, or examples to train a model on.", "--format"),
    ] = "jsonl",
    unverified: Annotated[bool, option("sft: steps too that never passed.")] = False,
    as_json: Json = False,
) -> None:
    """Write every trajectory, ordered by id, or lines to train a model on.

    "jsonl" is what `regraph ingest` reads. The techniques' definitions are not in it: regraph
    techniques show --json writes those, for regraph ingest --vocabulary.

    "sft" is a line for each verified step: its code before as a question, reasoning, technique and
    code after it as the answer ("messages"), and its measured effects (regraph docs ingest).

    What is ingested meanwhile may or may not be in.
    """
    if unverified and form != "sft":
        raise BadInput("--unverified is for --format sft: jsonl has every step")
    if output is None and as_json:
        raise BadInput("--json: name the file with --output")
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
    answered(FileWritten(output, output.stat().st_size), as_json)


def _lines(
    opened: ExitStack, settings: Settings, form: str, *, unverified: bool
) -> Iterable[bytes]:
    trajectories = opened.enter_context(closing(open_store(settings))).export()
    if form == "sft":
        return (line.encode() for line in training_lines(trajectories, unverified=unverified))
    return (trajectory.line().encode() for trajectory in trajectories)


def check(*, as_json: Json = False) -> None:
    """Count NEXT and the examples again from the trajectories, and compare.

    Run it while nobody ingests: what is half-way then may be found too.

    Exit code 1: something is wrong; regraph ingest --rebuild mends it.
    """
    with closing(open_store(read_settings())) as store:
        findings = store.check()
    if not answered(findings, as_json):
        for finding in findings[:FINDINGS_SHOWN]:
            typer.echo(finding)
        typer.echo(
            f"{len(findings)} findings: regraph ingest --rebuild mends them"
            if findings
            else "the graph is what its trajectories say"
        )
    if findings:
        raise typer.Exit(1)
