"""`regraph graph reembed`, and what gives new examples their embeddings after an ingest."""

from collections.abc import Iterable
from contextlib import closing
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.progress import bar
from regraph_kg.errors import ModelError
from regraph_kg.graph import GraphStore
from regraph_kg.llm.embedder import Embedder
from regraph_kg.models.graph import EmbeddingProgress, Vector
from regraph_kg.settings import read_settings

SMOOTH = 1000
"""Marks on the bar; how many examples it stands for changes from step to step."""


def reembed(
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="hash|ollama:NAME|sentence-transformers:NAME",
            help="Whose embeddings the graph is to have.",
            show_default="REGRAPH_EMBEDDER, else as they are",
        ),
    ] = None,
) -> None:
    """Give every example the embedding of its reasoning, or change to those of another model.

    The old embeddings serve until all new ones are there. It may be stopped, killed or interrupted,
    and is simply run again; ingests may go on meanwhile.
    """
    settings = read_settings(embedder=embedder)
    with closing(wiring.open_store(settings)) as store:
        if not settings.embedder:
            chosen = wiring.embedder(settings, store.embedding_space())
            _show(store.embed(chosen.space, chosen.embed))
        else:
            chosen = wiring.embedder(settings)
            _show(store.reembed(chosen.space, chosen.embed))
    space = chosen.space
    typer.echo(f"every example is embedded by {space.model} ({space.dimension} dimensions)")


def embed_new(store: GraphStore, embedder: Embedder) -> None:
    """Embed the examples of `store` that have no embedding yet.

    Where the model fails, the message says that nothing else is lost.
    """
    try:
        _show(store.embed(embedder.space, embedder.embed))
    except ModelError as error:
        raise ModelError(
            f"{error}; the graph has everything but some embeddings, which come with the next"
            " ingest, or with regraph graph reembed"
        ) from None


def place(text: str, embedder: Embedder) -> Vector:
    """Where `text` lies among the embeddings."""
    return Vector(embedder.space, embedder.embed([text])[0])


def _show(steps: Iterable[EmbeddingProgress]) -> None:
    """Do the steps, and show how far they are, on a terminal."""
    with bar("embedding", SMOOTH) as show:
        for one in steps:
            share = SMOOTH * one.done // max(one.total, 1)
            show(share, f"{one.step}: {one.done} of {one.total} examples")
