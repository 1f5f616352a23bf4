"""`regraph ingest`: merge files of trajectories into the graph, with progress and a summary."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from regraph_kg.cli.parameters import Json, answered, argument, model_option, option
from regraph_kg.cli.progress import watch
from regraph_kg.cli.tables import one_line, print_rows
from regraph_kg.errors import BadInput, Interrupted, StoreError
from regraph_kg.models.graph import RelabelLevel
from regraph_kg.runs.ingest import (
    Ingested,
    IngestSource,
    NameVerdict,
    ingest_files,
    read_names,
)
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.shipped import starter_files

AGAIN = "run the same command again: what the graph has is not added twice"


def ingest(  # noqa: PLR0913 (a command's options)
    *,
    files: Annotated[list[Path] | None, argument("Trajectory JSONL.", metavar="FILE...")] = None,
    starter: Annotated[bool, option("The starter graph that comes with regraph, too.")] = False,
    vocabulary: Annotated[
        Path | None, option("List of techniques.", show_default="techniques.json of the corpus")
    ] = None,
    relabel: Annotated[
        RelabelLevel, option("How hard to look for the technique that a name means.")
    ] = "exact",
    model: Annotated[str | None, model_option("Whom --relabel model asks.")] = None,
    dry_run: Annotated[bool, option("Only print what each name would be taken for.")] = False,
    as_json: Json = False,
) -> None:
    """Grow the graph from FILEs: Trajectory JSONL, one object a line.

    A bad line stops nothing: it goes to FILE.rejected.jsonl with its number and the reason. What
    the graph knows already is not added twice, so that an interrupted ingest is simply run again;
    several may run at once. Measurements in FILEs are believed, whoever made them: ingest what you
    trust (regraph docs SECURITY). All of it: regraph docs ingest.

    The names of techniques are looked up: "exact" knows them by id, name and alias; "model" asks
    a language model about the rest, once for each name. A name that nobody knows counts for what
    its step's code shows, or becomes a new technique, to be reviewed. With answers by file, nothing
    is added before all of them are there.

    Exit code 0: something was added or known already; 1: every line was rejected; 4: Ctrl-C or a
    lost store, go on with the same command; 5: a model's answers are to come by file.
    """
    settings = read_settings(model=model)
    paths = [*(starter_files(settings) if starter else ()), *(files or ())]
    if not paths:
        raise BadInput("no FILE of trajectories; regraph ingest --starter takes the starter graph")
    source = IngestSource(paths, vocabulary, relabel)
    if dry_run:
        names = watch(read_names(settings, source))
        if not answered(names, as_json):
            _print_names(names)
        return
    ingested = _ingest(settings, source)
    if not answered(ingested, as_json):
        typer.echo(str(ingested))
    if ingested.rejected and not ingested.good:
        raise typer.Exit(1)


def _ingest(settings: Settings, source: IngestSource) -> Ingested:
    """Merge the files. Raises `Interrupted` with the counts so far and the command that goes on."""
    ingested = Ingested()
    try:
        with closing(ingest_files(settings, source, ingested)) as story:
            watch(story)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; {_so_far(ingested)}; {AGAIN}") from None
    except StoreError as error:
        # nothing was merged: the store is the user's to mend, and there is nothing to go on with
        if not ingested.good:
            raise
        raise Interrupted(f"{error}; {_so_far(ingested)}; {AGAIN}") from None
    return ingested


def _so_far(ingested: Ingested) -> str:
    return f"so far {ingested.added} trajectories added, {ingested.known} known already"


def _print_names(names: Sequence[NameVerdict]) -> None:
    """Print what each name would count as, and the number of techniques that would be new."""
    # by stage, so that what a rule guessed stands together, to be looked at
    cells = (
        (one_line(row.label), row.technique, row.stage, str(row.steps))
        for row in sorted(names, key=lambda row: (row.stage, row.technique, row.label))
    )
    print_rows(("name", "technique", "stage", "steps"), cells, {3})
    typer.echo(f"new techniques: {len({row.technique for row in names if row.new})}")
