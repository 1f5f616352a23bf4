"""Checks of `regraph doctor`: the judge's machine, the graph store, the models of the settings.

Not covered: whether a model answers well; the contents of the graph.
"""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from regraph_kg.errors import ModelError, StoreError
from regraph_kg.evaluation.doctor import Check, CheckRow, Scope, absent, checks, green, red
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
    parts: tuple[Check, ...] = (
        ("graph", "store", partial(_store, settings)),
        ("models", f"model {settings.model}", partial(_model, settings)),
        ("models", f"embedder {settings.embedder or 'hash'}", partial(_embedder, settings)),
    )
    with exploits(scope) as played:
        yield (*checks(scope), *parts, *played)


def _store(settings: Settings) -> CheckRow:
    """The store's check; an embedded store that starts for it is ended."""
    embedded = settings.store == "embedded"
    was_running = embedded and find_embedded(settings) is not None
    if embedded and not was_running:
        # a store that lives for this check alone gains nothing from a good compiler
        os.environ.setdefault("ARCADEDB_JVM_ARGS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    try:
        with closing(open_store(settings, retry_seconds=2.0)) as store:
            stats = store.stats()
    except StoreError as error:
        return red(error.message, error.remedy or "see REGRAPH_STORE")
    finally:
        if embedded and not was_running:
            stop_embedded(settings)
    which = "embedded" if embedded else "Neo4j"
    how = "answers" if was_running or not embedded else "starts"
    return green(f"{which}, {how}; schema {stats.schema_version}, {stats.techniques} techniques")


def _model(settings: Settings) -> CheckRow:
    """The check of the default model of searches."""
    spec = ModelSpec.parse(settings.model)
    if spec.is_recorded:
        folder = corpus_folder(settings) / "recorded"
        if folder.is_dir():
            return green(f"recorded answers in {folder}; no server is asked")
        return absent(f"no recorded answers in {folder}", "set REGRAPH_CORPUS")
    if spec.by_file:
        return _by_file(Path(spec.name))
    try:
        model = any_model(_with_short_timeout(settings), spec)
    except ModelError as error:
        return red(error.message, error.remedy)
    return green(model.name)


def _by_file(folder: Path) -> CheckRow:
    """The check of answers by file."""
    if not folder.is_dir():
        return green("answers come by file; no prompt has been written yet")
    status = batch_status(folder)
    failed = f" ({status.failed} failed: {status.failure})" if status.failed else ""
    counts = f"{status.pending} prompts wait{failed}, {status.answered} are answered"
    return green(f"by file: {counts}")


def _embedder(settings: Settings) -> CheckRow:
    if settings.embedder is None or settings.embedder == "hash":
        return green("built in; no server is asked")
    try:
        opened = embedder_of(_with_short_timeout(settings))
    except ModelError as error:
        return red(error.message, error.remedy)
    return green(f"{opened.space.model}, {opened.space.dimension} dimensions")


def _with_short_timeout(settings: Settings) -> Settings:
    return settings.model_copy(update={"model_timeout_seconds": _MODEL_SECONDS})
