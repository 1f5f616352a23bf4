"""`regraph graph update`: embeddings and the bound of a graph."""

from contextlib import closing
from dataclasses import dataclass
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.answers import tell
from regraph_kg.cli.parameters import Json, option
from regraph_kg.cli.progress import watch
from regraph_kg.models.graph import EmbeddingSpace
from regraph_kg.runs.ingest import embedding
from regraph_kg.settings import Settings, read_settings


@dataclass(frozen=True, slots=True)
class GraphUpdated:
    """The derived parts of a graph."""

    bound: int
    """Examples of a transition in sight."""
    embeddings: EmbeddingSpace


ANSWERS = {"graph update": GraphUpdated}


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
    if as_json:
        tell(GraphUpdated, GraphUpdated(in_sight, space))
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
