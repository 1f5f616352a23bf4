"""`regraph optimize`: search for faster code, trace the search, print the best and its path.

Here: the command, and the starter graph. The searches: running.py; --dry-run: dry_run.py.
"""

import io
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import typer

from regraph_kg.cli.display import say
from regraph_kg.cli.dry_run import preview
from regraph_kg.cli.first_look import require_good
from regraph_kg.cli.json_answers import notes_aside
from regraph_kg.cli.options import SETTABLE, Options, choose, set_names, takes_options
from regraph_kg.cli.progress import on_terminal, watch
from regraph_kg.cli.running import run_searches
from regraph_kg.errors import BadInput
from regraph_kg.runs.choice import traced_model
from regraph_kg.runs.search import look_at_graph
from regraph_kg.search.methods import METHODS, kind_of
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.shipped import corpus_folder, starter_files
from regraph_kg.wiring.stores import open_store

EPILOG = "\n\n".join(
    [
        "Methods:",
        *(f"{name}: {line}" for name, line in METHODS.items()),
        "Settings of --set, besides the method's own (regraph docs methods):",
        *(f"{prefix}NAME: {', '.join(set_names(kind))}" for prefix, kind in SETTABLE.items()),
    ]
)


@takes_options
def optimize(options: Options) -> None:
    """Search for a faster version of each PROBLEM: a model proposes, compiler and clock judge.

    The best three are measured again in fresh processes; only that speedup is reported, and code
    that is not surely faster than the serial code is no answer. Ctrl-C keeps the best so far.

    optimize FILE.cpp --function NAME does regraph problem new and this in one go.

    Several problems are searched one after another; one that fails leaves the others alone. --fast
    is for a first look, --dry-run spends nothing.

    Exit code 0: faster code found (for one problem at least); 1: none found; 4: stopped, or 5:
    waiting for answers by file, and the command to go on is printed.
    """
    if not _run(options):
        raise typer.Exit(1)


def _run(options: Options) -> bool:
    """Run the command; whether it found faster code (--dry-run: always)."""
    model_settings = traced_model(options.resume) if options.resume else {}
    settings = read_settings(**model_settings | ({"model": options.model} if options.model else {}))
    if options.function is not None:
        options = replace(options, problems=[_problem_folder(settings, options)])
    searches = choose(options, settings.model)
    first = searches[0]
    if options.starter or (kind_of(first.settings.method).walks and not options.resume):
        offer(settings, options.starter)
    if options.dry_run:
        preview(settings, searches, as_json=options.as_json)
        return True
    if len(searches) == 1 and not options.resume:
        # the check of a problem takes up to half a minute, and would be for nothing
        look_at_graph(settings, first)
    if first.judge is None:
        require_good(settings, options.problems)
    return run_searches(settings, options, searches)


def _problem_folder(settings: Settings, options: Options) -> str:
    """The folder of the problem made of a function, now or earlier."""
    if len(options.problems) > 1 or options.resume:
        raise BadInput("function: is of one C++ file, and of a new search; name that file alone")
    assert options.function is not None
    from regraph_kg.cli.problem import problem_of  # noqa: PLC0415 (the parser comes with it)

    file = Path(options.problems[0])
    with notes_aside(options.as_json):
        return f"{problem_of(settings, file, options.function)}/"


def offer(settings: Settings, load: bool | None) -> None:
    """Load the starter graph into an empty embedded store, where the user wants it.

    None asks on a terminal, and elsewhere loads nothing. Raises `BadInput` for a shared
    store, which only `regraph ingest --starter` fills.
    """
    if settings.store != "embedded":
        if load:
            raise BadInput("starter: this store is shared; fill it with regraph ingest --starter")
        return
    if load is False or (load is None and not on_terminal()):
        return
    with closing(open_store(settings)) as store:
        if store.stats().trajectories:
            return
    files = starter_files(settings)
    question = "the graph is empty: load the starter graph that comes with regraph?"
    if not load and not (files and typer.confirm(question, default=True, err=True)):
        return
    if not files:
        raise BadInput(f"starter: no trajectories in {corpus_folder(settings)}")
    from regraph_kg.runs.ingest import grow  # noqa: PLC0415 (numpy, for an empty graph alone)

    lines = io.BytesIO(b"".join(path.read_bytes() for path in files))
    disclosing = settings.model_copy(update={"disclose": "code"})  # the starter graph is public
    counts = watch(grow(disclosing, lines, "lexical", "starter"))
    say(
        f"the graph was empty; loaded the starter graph: {counts.added} trajectories,"
        f" {counts.examples} examples"
    )
