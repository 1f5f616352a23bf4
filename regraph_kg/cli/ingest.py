"""`regraph ingest`: merge files of trajectories into the graph, with progress and a summary."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.embeddings import embed_new
from regraph_kg.cli.growing import COUNTS
from regraph_kg.cli.progress import bar
from regraph_kg.cli.verdicts import print_verdicts
from regraph_kg.errors import BadInput, Environment
from regraph_kg.graph import GraphStore
from regraph_kg.ingest import pipeline
from regraph_kg.ingest.pipeline import Batch
from regraph_kg.ingest.read import FileOrigin, Rejected, read, split
from regraph_kg.ingest.relabel.cascade import Cascade, Label
from regraph_kg.ingest.relabel.verdict import LabelVerdict
from regraph_kg.models.base import Target
from regraph_kg.models.graph import RelabelLevel
from regraph_kg.private import opener
from regraph_kg.settings import read_settings

REJECTED = ".rejected.jsonl"
NO_TRAJECTORIES = "not JSON; give Trajectory JSONL (regraph graph schema), or step lists"
SETTLED_FIRST: tuple[RelabelLevel, ...] = ("embed", "model")
"""Levels that decide all names before anything is added: many at once, or to wait for answers."""


def ingest(  # noqa: PLR0913 (a command's options)
    *,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE...", help="Trajectory JSONL, or step lists."),
    ] = None,
    starter: Annotated[
        bool, typer.Option("--starter", help="The starter graph that comes with regraph, too.")
    ] = False,
    vocabulary: Annotated[
        Path | None,
        typer.Option(help="List of techniques.", show_default="techniques.json of the corpus"),
    ] = None,
    serial: Annotated[
        Path | None, typer.Option(help="Step lists only: the file with their serial code.")
    ] = None,
    problem: Annotated[
        str | None, typer.Option(help="Step lists only: the name of their problem.")
    ] = None,
    target: Annotated[
        Target | None, typer.Option(help="Step lists only: what their code is for.")
    ] = None,
    relabel: Annotated[
        RelabelLevel, typer.Option(help="How hard to look for the technique that a name means.")
    ] = "lexical",
    model: Annotated[
        str | None,
        typer.Option(
            metavar="ollama:NAME|openai:NAME|batch:FOLDER",
            help="Whom --relabel model asks.",
            show_default="REGRAPH_MODEL",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what each name would be taken for.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Grow the graph from FILEs: Trajectory JSONL, or step lists [{think, method, detail, code}].

    A bad line stops nothing: it goes to FILE.rejected.jsonl with its number and the reason. What
    the graph knows already is not added twice, so that an interrupted ingest is simply run again.
    Measurements in FILEs are believed, whoever made them: ingest what you trust (regraph docs
    SECURITY).

    The names of techniques are looked up: "exact" knows them by id, name and alias; "lexical" also
    in other words; "embed" also where embeddings agree; "model" asks a language model about the
    rest, once for each name. What none recognizes becomes a new technique, to be reviewed. With
    answers by file, nothing is added before all of them are there.

    Exit code 0: something was added or known already; 1: every line was rejected; 5: a model's
    answers are to come by file.
    """
    settings = read_settings(model=model)
    origin = _origin(serial, problem, target)
    given = _readable([*(wiring.starter_files(settings) if starter else ()), *(files or ())])
    if not (given or files):
        raise BadInput("no FILE of trajectories; regraph ingest --starter takes the starter graph")
    curated = wiring.vocabulary(settings, vocabulary)
    totals = Counter(dict.fromkeys((*COUNTS, "rejected"), 0))
    rejected_files: list[Path] = []
    with closing(wiring.open_store(settings)) as store:
        names = pipeline.read_vocabulary(store, curated)
        cascade = wiring.cascade(settings, names, relabel)
        if dry_run:
            steps, verdicts = _settle(given, origin, cascade)
            print_verdicts(verdicts, steps, as_json=as_json)
            return
        if relabel in SETTLED_FIRST:
            _settle(given, origin, cascade)
        embedder = wiring.embedder(settings, store.embedding_space())
        store.add_techniques(names.curated)
        for path in given:
            rejected_files += _take(path, origin, store, cascade, totals)
        embed_new(store, embedder)
    _summarise(totals, rejected_files, as_json=as_json)
    if totals["rejected"] and not totals["added"] + totals["known"]:
        raise typer.Exit(1)


def _take(
    path: Path,
    origin: FileOrigin | None,
    store: GraphStore,
    cascade: Cascade,
    totals: Counter[str],
) -> list[Path]:
    """Merge one file, and count; where its rejected lines are listed, if there are any.

    Of a file of something else no list is made: it would hold all of it.
    """
    before = totals["added"] + totals["known"]
    with path.open("rb") as file, _progress(path) as show, _room() as kept:
        for batch in pipeline.ingest(read(split(file), origin), store, cascade):
            _count(batch, totals)
            _keep(batch.rejected, kept)
            show(file.tell(), totals)
        if totals["added"] + totals["known"] > before or _is_json(kept):
            return _publish(kept, Path(f"{path}{REJECTED}"))
    typer.echo(f"{path}: {NO_TRAJECTORIES}", err=True)
    return []


def _origin(serial: Path | None, problem: str | None, target: Target | None) -> FileOrigin | None:
    """What step lists do not say; all of it, or none."""
    if serial is None and problem is None and target is None:
        return None
    if serial is None or problem is None or target is None:
        raise BadInput("step lists need --serial, --problem and --target together")
    try:
        return FileOrigin(target, problem, serial.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{serial}: {error.strerror}; give the serial code's file") from None
    except UnicodeDecodeError:
        raise BadInput(f"{serial}: not UTF-8 text; give the serial code's file") from None


def _readable(files: Sequence[Path]) -> list[Path]:
    """The files to ingest, without reports of earlier rejections; each can be read."""
    for path in files:
        try:
            path.open("rb").close()
        except OSError as error:
            raise BadInput(f"{path}: {error.strerror}; give files of trajectories") from None
    reports = [path for path in files if path.name.endswith(REJECTED)]
    for path in reports:
        typer.echo(f"{path}: left out, it lists rejected lines", err=True)
    return [path for path in files if path not in reports]


def _settle(
    files: Sequence[Path], origin: FileOrigin | None, cascade: Cascade
) -> tuple[Mapping[Label, int], Sequence[LabelVerdict]]:
    """Decide every name in the files: how many steps have it, and what it means."""
    steps: Counter[Label] = Counter()
    for path in files:
        with path.open("rb") as file:
            steps += pipeline.survey(read(split(file), origin))
    with bar("names", len(steps)) as show:
        return steps, cascade.settle(
            steps, lambda done: show(done, f"names: {done} of {len(steps)}")
        )


def _count(batch: Batch, totals: Counter[str]) -> None:
    totals.update({name: getattr(batch.counts, name) for name in COUNTS})
    totals["rejected"] += len(batch.rejected)


def _room() -> SpooledTemporaryFile[str]:
    """Room for the rejected lines of one file until it is through; a kill leaves no litter."""
    return SpooledTemporaryFile(2**20, "w+", encoding="utf-8")


def _keep(rejected: Sequence[Rejected], kept: IO[str]) -> None:
    for line in rejected:
        row = {"line": line.line.number, "reason": line.reason, "text": line.text()}
        kept.write(json.dumps(row, ensure_ascii=False) + "\n")


def _is_json(kept: IO[str]) -> bool:
    """Whether the first rejected line was meant to be JSON, or an empty file's."""
    kept.seek(0)
    first = json.loads(kept.readline())["text"]
    return not first or first[0] in "{["


def _publish(kept: IO[str], path: Path) -> list[Path]:
    """Write the report whole, or take an outdated one away; where it is, if it is."""
    kept.seek(0)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        if not kept.read(1):
            path.unlink(missing_ok=True)
            return []
        kept.seek(0)
        with open(draft, "w", encoding="utf-8", opener=opener) as file:
            file.writelines(kept)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise Environment(
            f"{path}: {error.strerror}; the good lines are in the graph, the list of the rejected"
            " ones is lost: make room for it and run the same command again"
        ) from None
    return [path]


@contextmanager
def _progress(path: Path) -> Iterator[Callable[[int, Counter[str]], None]]:
    """Shows how far through a file we are, on a terminal."""
    with bar(path.name, path.stat().st_size) as show:

        def told(done: int, totals: Counter[str]) -> None:
            said = ", ".join(f"{totals[name]} {name}" for name in ("added", "known", "rejected"))
            show(done, f"{path.name}: {said}")

        yield told


def _summarise(totals: Counter[str], rejected_files: Sequence[Path], *, as_json: bool) -> None:
    if as_json:
        files = [str(path) for path in rejected_files]
        typer.echo(json.dumps({**totals, "rejected_files": files}, indent=2))
        return
    typer.echo(
        f"trajectories: {totals['added']} added, {totals['known']} known already,"
        f" {totals['rejected']} rejected"
    )
    typer.echo(
        f"new in the graph: {totals['examples']} examples, {totals['measurements']} measurements,"
        f" {totals['techniques']} techniques that the vocabulary lacks"
    )
    if totals["measurements"]:
        typer.echo("measurements are what the files claim: none was made here")
    for path in rejected_files:
        typer.echo(f"rejected lines, with reasons: {path}")
