"""`regraph doctor`: whether this machine has what regraph needs."""

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import TaskProgressColumn
from rich.table import Table
from rich.text import Text

from regraph_kg.cli.parameters import Json, answered, option
from regraph_kg.cli.progress import transient
from regraph_kg.cli.tables import PlainConsole
from regraph_kg.evaluation.doctor import Check, CheckRow, Found, Scope, checks, rows
from regraph_kg.llm.by_file import batch_status
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.target import Target
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.open_model import any_model
from regraph_kg.wiring.shipped import corpus_folder
from regraph_kg.wiring.stores import open_store

_MODEL_SECONDS = 20.0  # longest silence of a model server that tells its version and models
_COLOURS = {"green": "green", "red": "bold red", "absent": "bright_black"}


def doctor(
    target: Annotated[
        Target | None,
        option("Only this target's compiler and device.", show_default="all"),
    ] = None,
    quick: Annotated[bool, option("Measure no peaks.")] = False,
    remeasure: Annotated[bool, option("Measure the device's peaks anew.")] = False,
    as_json: Json = False,
) -> None:
    """Check compilers, GPU, sandbox, store and models; say what to mend.

    green: works; red: matters and does not work; absent: not here, and not asked for.
    Takes some seconds, the first time ten more for the peaks. Exit code 0: nothing is red; 1:
    something is.
    """
    settings = read_settings()
    results: list[CheckRow] = []
    scope = Scope(settings.cache_dir, target, quick, remeasure)
    table = (*checks(scope), *_services(settings))
    with transient(TaskProgressColumn()) as bar:
        task = bar.add_task("doctor", total=len(table))
        results += rows(
            table, lambda done, text: bar.update(task, completed=done, description=text)
        )
    if not answered(results, as_json):
        _print(results)
    if any(row.state == "red" for row in results):
        raise typer.Exit(1)


def _print(rows: Sequence[CheckRow]) -> None:
    """Remedies stand below what they mend, so that a narrow terminal shows both."""
    console, part = PlainConsole(), ""
    table = Table("", "check", "found", box=None, pad_edge=False)
    for row in rows:
        if row.part != part:
            part = row.part
            table.add_row("", Text(part, "bold"))
        text = row.found + (f"\nmend: {row.remedy}" if row.remedy else "")
        table.add_row(Text(row.state, _COLOURS[row.state]), f"  {row.name}", text)
    console.print(table)
    counts = {state: sum(row.state == state for row in rows) for state in _COLOURS}
    console.print(", ".join(f"{count} {state}" for state, count in counts.items()))


def _services(settings: Settings) -> tuple[Check, ...]:
    """Checks of what the judge needs nothing of."""
    return (
        Check("graph", "store", partial(_store, settings), "see REGRAPH_STORE"),
        Check("models", f"model {settings.model}", partial(_model, settings), "set REGRAPH_CORPUS"),
    )


def _store(settings: Settings) -> Found:
    with closing(open_store(settings, retry_seconds=2.0)) as store:
        stats = store.stats()
    which = "embedded" if settings.store == "embedded" else "Neo4j"
    return True, f"{which}, answers; schema {stats.schema_version}, {stats.techniques} techniques"


def _model(settings: Settings) -> Found:
    spec = ModelSpec.parse(settings.model)
    if spec.is_recorded:
        folder = corpus_folder(settings) / "recorded"
        if not folder.is_dir():
            return None, f"no recorded answers in {folder}"
        return True, f"recorded answers in {folder}; no server is asked"
    if not spec.by_file:
        short = settings.model_copy(update={"model_timeout_seconds": _MODEL_SECONDS})
        return True, any_model(short, spec).name
    if not Path(spec.name).is_dir():
        return True, "answers come by file; no prompt has been written yet"
    status = batch_status(Path(spec.name))
    failed = f" ({status.failed} failed: {status.failure})" if status.failed else ""
    return True, f"by file: {status.pending} prompts wait{failed}, {status.answered} are answered"
