"""The starter graph for an empty embedded store: loaded only with the user's consent.

Not covered: a shared Neo4j, which only `regraph ingest --starter` fills.
"""

import io
from contextlib import closing

import typer

from regraph_kg import wiring
from regraph_kg.cli.display import say
from regraph_kg.cli.progress import on_terminal, watch
from regraph_kg.errors import BadInput
from regraph_kg.settings import Settings


def offer(settings: Settings, load: bool | None) -> None:
    """Load the starter graph into an empty embedded store, where the user wants it.

    None asks on a terminal, and elsewhere loads nothing. Raises `BadInput` for a shared store.
    """
    if settings.store != "embedded":
        if load:
            raise BadInput("starter: this store is shared; fill it with regraph ingest --starter")
        return
    if load is False or (load is None and not on_terminal()):
        return
    with closing(wiring.open_store(settings)) as store:
        if store.stats().trajectories:
            return
    files = wiring.starter_files(settings)
    question = "the graph is empty: load the starter graph that comes with regraph?"
    if not load and not (files and typer.confirm(question, default=True, err=True)):
        return
    if not files:
        raise BadInput(f"starter: no trajectories in {wiring.corpus_folder(settings)}")
    from regraph_kg.runs.ingest import grow  # noqa: PLC0415 (numpy, for an empty graph alone)

    lines = io.BytesIO(b"".join(path.read_bytes() for path in files))
    disclosing = settings.model_copy(update={"disclose": "code"})  # the starter graph is public
    counts = watch(grow(disclosing, lines, "lexical", "starter"))
    say(
        f"the graph was empty; loaded the starter graph: {counts['added']} trajectories,"
        f" {counts['examples']} examples"
    )
