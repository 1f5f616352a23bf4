"""`regraph graph reembed`: every example gets its embeddings, or another model's."""

from contextlib import closing
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.answers import Json, tell
from regraph_kg.cli.progress import watch
from regraph_kg.models.graph import EmbeddingSpace
from regraph_kg.runs.ingest import embedding
from regraph_kg.settings import read_settings

ANSWERS = {"graph reembed": EmbeddingSpace}


def reembed(
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="hash|ollama:NAME|sentence-transformers:NAME",
            help="Whose embeddings the graph is to have.",
            show_default="REGRAPH_EMBEDDER, else as they are",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Give every example the embeddings of its text and code, or change to another model's.

    The old embeddings serve until all new ones are there. It may be stopped, killed or interrupted,
    and is simply run again; ingests may go on meanwhile.
    """
    settings = read_settings(embedder=embedder)
    with closing(wiring.open_store(settings)) as store:
        if not settings.embedder:
            chosen = wiring.embedder(settings, store.embedding_space())
            watch(embedding(store.embed(chosen.space, chosen.embed)))
        else:
            chosen = wiring.embedder(settings)
            watch(embedding(store.reembed(chosen.space, chosen.embed)))
    space = chosen.space
    if as_json:
        tell(EmbeddingSpace, space)
        return
    typer.echo(f"every example is embedded by {space.model} ({space.dimension} dimensions)")
