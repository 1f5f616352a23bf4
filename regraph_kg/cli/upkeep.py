"""`regraph graph check` and `update`: what is derived in a graph, and comparisons of two."""

from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.answers import answered
from regraph_kg.cli.exchange import compare
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.progress import watch
from regraph_kg.errors import BadInput
from regraph_kg.models.difference import PartDifference
from regraph_kg.models.graph import EmbeddingSpace, GraphFinding
from regraph_kg.runs.ingest import embed_new, embedding
from regraph_kg.settings import Settings, read_settings

SHOWN = 20
"""Findings printed; the rest are counted."""
PAIR = 2


@dataclass(frozen=True, slots=True)
class GraphUpdated:
    """The derived parts of a graph."""

    bound: int
    """Examples of a transition in sight."""
    embeddings: EmbeddingSpace


ANSWERS = {
    "graph check": tuple[GraphFinding, ...] | dict[str, PartDifference],
    "graph update": GraphUpdated,
}
"""Differences of two graphs by part."""


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
    with closing(wiring.open_store(settings)) as store:
        findings = store.check()
        mended = len(findings)
        if repair and findings:
            store.repair(findings)
            watch(embed_new(settings))
            findings = store.check()
        mended -= len(findings)
    if not answered(tuple[GraphFinding, ...], findings, as_json):
        for finding in findings[:SHOWN]:
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


def update(
    *,
    embedder: Annotated[
        str | None,
        option(
            "Whose embeddings the graph is to have.",
            metavar="hash|ollama:NAME|sentence-transformers:NAME",
            show_default="REGRAPH_EMBEDDER, else as they are",
        ),
    ] = None,
    bound: Annotated[
        int | None, option("How many examples of a transition stay in sight.", min=1)
    ] = None,
    as_json: Json = False,
) -> None:
    """Give embeddings to examples without; change the embedder or the bound.

    Another embedder's vectors serve once all of them are there. The bound keeps the best examples
    as TRANSITIONs, every device's and every problem's first; the others are archived: out of Neo4j
    Browser's way, but counted in the statistics and exported.

    It may be stopped, killed or interrupted, and is simply run again.
    """
    settings = read_settings(embedder=embedder)
    in_sight, space = _derive(settings, bound)
    if answered(GraphUpdated, GraphUpdated(in_sight, space), as_json):
        return
    typer.echo(f"every example is embedded by {space.model} ({space.dimension} dimensions)")
    typer.echo(f"{in_sight} examples of a transition stay in sight, the others are archived")


def _derive(settings: Settings, bound: int | None) -> tuple[int, EmbeddingSpace]:
    """Update the bound and the embeddings; return both."""
    with closing(wiring.open_store(settings)) as store:
        if bound is not None:
            for _ in store.set_bound(bound):
                pass
        if settings.embedder:
            chosen = wiring.embedder(settings)
            watch(embedding(store.reembed(chosen.space, chosen.embed)))
        else:
            chosen = wiring.embedder(settings, store.embedding_space())
            watch(embedding(store.embed(chosen.space, chosen.embed)))
        return store.bound(), chosen.space
