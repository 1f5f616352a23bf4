"""Checks of `regraph doctor`: the judge's machine, the graph store, the models of the settings.

Not covered: whether a model answers well; the contents of the graph.
"""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from regraph_kg.evaluation.doctor import Check, Found, Scope, checks
from regraph_kg.evaluation.exploit_check import exploits
from regraph_kg.llm.by_file import batch_status
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.settings import Settings
from regraph_kg.wiring.open_model import any_model, embedder_of
from regraph_kg.wiring.shipped import corpus_folder
from regraph_kg.wiring.stores import find_embedded, open_store, stop_embedded

_MODEL_SECONDS = 20.0  # longest silence of a model server that tells its version and models


@contextmanager
def examination(settings: Settings, scope: Scope) -> Iterator[tuple[Check, ...]]:
    """Every check in the order of the table; exploits come last and are judged lazily."""
    embedder = f"embedder {settings.embedder or 'hash'}"
    parts = (
        Check("graph", "store", partial(_store, settings), "see REGRAPH_STORE"),
        Check("models", f"model {settings.model}", partial(_model, settings), "set REGRAPH_CORPUS"),
        Check("models", embedder, partial(_embedder, settings)),
    )
    with exploits(scope) as played:
        yield (*checks(scope), *parts, *played)


def _store(settings: Settings) -> Found:
    """The store's check; an embedded store that starts for it is ended."""
    embedded = settings.store == "embedded"
    was_running = embedded and find_embedded(settings) is not None
    if embedded and not was_running:
        # a store that lives for this check alone gains nothing from a good compiler
        os.environ.setdefault("ARCADEDB_JVM_ARGS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    try:
        with closing(open_store(settings, retry_seconds=2.0)) as store:
            stats = store.stats()
    finally:
        if embedded and not was_running:
            stop_embedded(settings)
    which = "embedded" if embedded else "Neo4j"
    how = "answers" if was_running or not embedded else "starts"
    return True, f"{which}, {how}; schema {stats.schema_version}, {stats.techniques} techniques"


def _model(settings: Settings) -> Found:
    """The check of the default model of searches."""
    spec = ModelSpec.parse(settings.model)
    if spec.is_recorded:
        folder = corpus_folder(settings) / "recorded"
        if not folder.is_dir():
            return None, f"no recorded answers in {folder}"
        return True, f"recorded answers in {folder}; no server is asked"
    if not spec.by_file:
        return True, any_model(_with_short_timeout(settings), spec).name
    if not Path(spec.name).is_dir():
        return True, "answers come by file; no prompt has been written yet"
    status = batch_status(Path(spec.name))
    failed = f" ({status.failed} failed: {status.failure})" if status.failed else ""
    return True, f"by file: {status.pending} prompts wait{failed}, {status.answered} are answered"


def _embedder(settings: Settings) -> Found:
    if settings.embedder is None or settings.embedder == "hash":
        return True, "built in; no server is asked"
    opened = embedder_of(_with_short_timeout(settings))
    return True, f"{opened.space.model}, {opened.space.dimension} dimensions"


def _with_short_timeout(settings: Settings) -> Settings:
    return settings.model_copy(update={"model_timeout_seconds": _MODEL_SECONDS})
