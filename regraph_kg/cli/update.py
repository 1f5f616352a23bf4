"""`regraph graph update`: a graph as this program, its embedder and its bound want it."""

from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.answers import Json, tell
from regraph_kg.cli.progress import watch
from regraph_kg.models.graph import EmbeddingSpace
from regraph_kg.runs.ingest import embedding
from regraph_kg.settings import Settings, read_settings


@dataclass(frozen=True, slots=True)
class GraphUpdated:
    """A graph's schema before and now, what that brings, or would bring, and what is derived."""

    before: int
    now: int
    brings: list[str]
    bound: int | None = None
    """Examples of a transition in sight; with the embeddings None where nothing was done."""
    embeddings: EmbeddingSpace | None = None


ANSWERS = {"graph update": GraphUpdated}


def update(
    *,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="hash|ollama:NAME|sentence-transformers:NAME",
            help="Whose embeddings the graph is to have.",
            show_default="REGRAPH_EMBEDDER, else as they are",
        ),
    ] = None,
    bound: Annotated[
        int | None,
        typer.Option(min=1, help="How many examples of a transition stay in sight."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what a newer schema would bring.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Carry a graph to this program's version, and give embeddings to examples without.

    Before a newer schema make a backup with the older program (regraph graph export, or the
    server's own), and let nobody ingest meanwhile: older programs cannot use the graph afterwards.

    Another embedder's vectors serve once all of them are there. The bound keeps the best examples
    as TRANSITIONs, every device's and every problem's first; the others are archived: out of Neo4j
    Browser's way, but counted in the statistics and exported.

    It may be stopped, killed or interrupted, and is simply run again.
    """
    settings = read_settings(embedder=embedder)
    say = partial(typer.echo, err=as_json)
    before, now, brings = _migrate(settings, say, dry_run=dry_run)
    if dry_run:
        done = GraphUpdated(before, now, brings)
    else:
        kept, space = _derive(settings, bound)
        done = GraphUpdated(before, now, brings, kept, space)
        say(f"every example is embedded by {space.model} ({space.dimension} dimensions)")
        say(f"{kept} examples of a transition stay in sight, the others are archived")
    if as_json:
        tell(GraphUpdated, done)


def _migrate(
    settings: Settings, say: "partial[None]", *, dry_run: bool
) -> tuple[int, int, list[str]]:
    """Carry the schema on; what it was, is, and what that brings."""
    with closing(wiring.open_migrator(settings)) as migrator:
        found, pending = migrator.version(), migrator.pending()
        if not pending:
            say(f"graph has schema {found}: nothing to do")
        for migration in pending:
            verb = "would bring" if dry_run else "brings"
            say(f"schema {migration.version} {verb}: {migration.title}")
        if pending and not dry_run:
            done = {(step.migration.version, step.what): step for step in migrator.run()}
            for (number, what), last in done.items():
                say(f"schema {number}: {last.done} {what}")
            say(f"graph has schema {migrator.version()} now")
        return found, migrator.version(), [one.title for one in pending]


def _derive(settings: Settings, bound: int | None) -> tuple[int, EmbeddingSpace]:
    """What follows from the examples: which are in sight, and their embeddings."""
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
