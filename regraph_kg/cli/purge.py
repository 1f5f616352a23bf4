"""`regraph graph purge`: remove everything that came from one origin."""

from contextlib import closing
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.answers import answered
from regraph_kg.cli.parameters import Json, option
from regraph_kg.cli.progress import bar, on_terminal, watch
from regraph_kg.errors import BadInput
from regraph_kg.models.purge import Provenance, PurgeCounts
from regraph_kg.runs.ingest import embed_new
from regraph_kg.settings import read_settings

ANSWERS = {"graph purge": PurgeCounts}


def purge(
    *,
    problem: Annotated[str | None, option("What was told of this problem.", metavar="NAME")] = None,
    source: Annotated[
        str | None, option("What names this model as its source.", metavar="MODEL")
    ] = None,
    run: Annotated[str | None, option("What names this run as its source.", metavar="RUN")] = None,
    dry_run: Annotated[bool, option("Only say how much would go.")] = False,
    yes: Annotated[bool, option("Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Take out all that came from one problem, source or run, as if it had never been told.

    Trajectories go with their examples, vectors, failures and statistics, and techniques that only
    an ingest has made for them; examples that they had displaced come back. It cannot be undone:
    regraph graph export --format backup first. A name of which the graph has nothing is refused.
    May be interrupted and run again; what is ingested meanwhile stays.
    """
    origin, settings = _provenance(problem, source, run), read_settings()
    with closing(wiring.open_purge(settings)) as graph:
        counts = graph.count(origin)
        _refuse_unknown(origin, graph.unknown(origin))
        if dry_run:
            _tell("would go", counts, as_json=as_json)
            return
        if not yes:
            _ask(origin, counts)
        purged = PurgeCounts()
        with bar("purging", counts.trajectories) as show:
            for purged in graph.run(origin):
                show(purged.trajectories, "purging")
    watch(embed_new(settings))
    _tell("gone", purged, as_json=as_json)


def _provenance(problem: str | None, source: str | None, run: str | None) -> Provenance:
    origins = (Provenance("problem", problem or ""), Provenance("model", source or ""))
    named = [origin for origin in (*origins, Provenance("run", run or "")) if origin.value]
    if len(named) != 1:
        raise BadInput("say what is to go: one of --problem, --source and --run")
    return named[0]


def _refuse_unknown(origin: Provenance, near: list[str] | None) -> None:
    if near is not None:
        meant = f"did you mean {' or '.join(map(repr, near))}?" if near else "nor one like it"
        raise BadInput(f"nothing in the graph is of {origin.by} {origin.value!r}; {meant}")


def _ask(origin: Provenance, counts: PurgeCounts) -> None:
    if not on_terminal():
        raise BadInput("this cannot be undone: look with --dry-run, then say --yes")
    question = f"{_summary(counts)} of {origin.by} {origin.value!r} will go for good: go on?"
    typer.confirm(question, abort=True, err=True)


def _tell(state: str, counts: PurgeCounts, *, as_json: bool) -> None:
    if not answered(PurgeCounts, counts, as_json):
        typer.echo(f"{state}: {_summary(counts)}")


def _summary(counts: PurgeCounts) -> str:
    parts = [f"{counts.trajectories} trajectories", f"{counts.examples} examples"]
    parts += [f"{counts.failures} failures", f"{counts.free_runs} runs of free steps"]
    parts += [f"{counts.techniques} techniques"] * bool(counts.techniques)
    parts += [f"{counts.names} learned names"] * bool(counts.names)
    return ", ".join(parts)
