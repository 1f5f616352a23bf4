"""What `regraph optimize` does: choose, offer a graph, search, show."""

from contextlib import closing, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

import typer

from regraph_kg import errors
from regraph_kg.cli.display import Show, print_summary, progress, require_good
from regraph_kg.cli.optimize import Options, choose, resume_command
from regraph_kg.cli.parameters import answered, notes_aside
from regraph_kg.cli.progress import watch
from regraph_kg.models.run import RunSummary
from regraph_kg.models.target import TARGETS
from regraph_kg.models.text import times
from regraph_kg.runs.choice import traced_model
from regraph_kg.runs.search import LiveRun, begin, require_graph
from regraph_kg.search.methods import kind_of
from regraph_kg.search.transform.apart import faults
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.problems import chosen_problem
from regraph_kg.wiring.searches import open_search
from regraph_kg.wiring.shipped import corpus_folder, starter_files
from regraph_kg.wiring.stores import open_store

_MOST_FAULTS = 5


def run(options: Options) -> bool:
    """Run the command; whether it found faster code."""
    model_settings = traced_model(options.resume) if options.resume else {}
    settings = read_settings(**model_settings | ({"model": options.model} if options.model else {}))
    if options.function is not None:
        if options.resume:
            raise errors.BadInput("function: is of a new search; leave it or --resume out")
        from regraph_kg.cli.problem import problem_of  # noqa: PLC0415 (the parser comes with it)

        # its folder, made now or earlier
        with notes_aside(options.as_json):
            folder = problem_of(settings, Path(options.problem), options.function)
        options = replace(options, problem=f"{folder}/")
    choice = choose(options, settings.model)
    if options.starter:
        load_starter(settings)
    if not options.resume:
        # before the check of the problem, which takes up to half a minute
        require_graph(settings, choice)
    require_good(settings, choice.problem)
    with (
        open_search(settings, choice) as search,
        begin(search, options.runs, options.resume) as run,
        progress(choice.limits.verdicts) as show,
    ):
        output = options.output or run.trace.with_suffix(TARGETS[choice.target].suffix)
        go_on = f"go on: {resume_command(options, run.trace)}"
        summary = None
        with suppress(errors.AnswersPending):  # `publish` says which
            summary = follow(run, show, output, go_on)
        run.publish(go_on)
    assert summary is not None
    if not answered(summary, options.as_json):
        places = {"problem": chosen_problem(settings, choice.problem), "code": str(output)}
        print_summary(summary, places | {"trace": str(run.trace)})
    return summary.improved


def load_starter(settings: Settings) -> None:
    """Load the starter graph into an embedded store that is empty; `BadInput` for a shared one."""
    if settings.store != "embedded":
        raise errors.BadInput(
            "starter: this store is shared; fill it with regraph ingest --starter"
        )
    with closing(open_store(settings)) as store:
        if store.stats().trajectories:
            return
    files = starter_files(settings)
    if not files:
        raise errors.BadInput(f"starter: no trajectories in {corpus_folder(settings)}")
    # numpy, for an empty graph alone
    from regraph_kg.runs.ingest import Ingested, IngestSource, ingest_files  # noqa: PLC0415

    counts = Ingested()
    watch(ingest_files(settings, IngestSource(files), counts))
    typer.echo(
        f"the graph was empty; loaded the starter graph: {counts.added} trajectories,"
        f" {counts.examples} examples",
        err=True,
    )


def follow(run: LiveRun, show: Show, output: Path, go_on: str) -> RunSummary:
    """Run the search with its output, measure the best again and write it.

    Raises `Interrupted` for Ctrl-C and for a lost model or store, and `ToolError`; each tells the
    best so far and how to go on. Raises `AnswersPending` where answers come by file.
    """
    header = run.header
    title = f"{header.problem} ({header.target})"
    show.say(
        f"{title}: {header.method}, at most {header.limits.verdicts} verdicts; model {header.model}"
    )
    if header.excluded and kind_of(header.method).walks:
        show.say(f"the graph is read without {header.excluded}'s own examples")
    show.say(f"trace: {run.trace}" + (" (its last line was torn: dropped)" if run.torn else ""))

    def ended(why: str, best: str) -> str:
        return "; ".join(filter(None, [why, best, go_on]))

    try:
        for record in run.records():
            show.record(record)
        if run.finalists:
            show.say("measuring the best again, in fresh processes")
        finished = run.finish()
        for fault in islice(faults(), _MOST_FAULTS):
            show.say(f"a transform of the graph was left out: {fault}")
    except KeyboardInterrupt:
        best = _keep_best(run, output) or "nothing faster so far"
        raise errors.Interrupted(ended(f"stopped after {run.verdicts} verdicts", best)) from None
    except errors.Environment as error:
        # what a tool lacks must be mended first: not resumable as it is
        kind = errors.ToolError if isinstance(error, errors.ToolError) else errors.Interrupted
        raise kind(ended(str(error), _keep_best(run, output))) from None
    _write(output, finished.code)
    return finished.summary


def _keep_best(run: LiveRun, output: Path) -> str:
    """Write the best screened code, if there is any, and say where it is."""
    best = next(iter(run.finalists), None)
    if best is None:
        return ""
    line = f"best so far {times(best.speedup or 0)}, not yet re-measured"
    try:
        _write(output, best.code or "")
    except errors.BadInput as error:
        # the search is lost only once, and the trace has the code
        return f"{line}, not written: {error}"
    return f"{line}, in {output}"


def _write(path: Path, code: str) -> None:
    with errors.file_errors(path, "give another --output"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")
