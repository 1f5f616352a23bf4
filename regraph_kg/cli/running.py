"""What `regraph optimize` does: choose, offer a graph, search for one problem after another.

The searches share a model and a judge. One that fails leaves the others alone; Ctrl-C ends them
all. Not here: a search itself (runs/search.py).
"""

import io
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from regraph_kg.cli.display import Show, print_summary, progress, require_good, say
from regraph_kg.cli.json_answers import answered, notes_aside, print_json
from regraph_kg.cli.options import Options, choose, resume_command
from regraph_kg.cli.progress import on_terminal, watch
from regraph_kg.errors import (
    BadInput,
    Interrupted,
    ModelError,
    RegraphError,
    StoreError,
    ToolError,
    file_errors,
)
from regraph_kg.models.run import RunSummary, SearchChoice
from regraph_kg.models.target import TARGETS
from regraph_kg.models.text import times
from regraph_kg.runs.choice import traced_model
from regraph_kg.runs.search import LiveRun, begin, preview, require_graph
from regraph_kg.search.methods import kind_of
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.problems import chosen_problem
from regraph_kg.wiring.searches import OpenSearches, open_searches
from regraph_kg.wiring.shipped import corpus_folder, starter_files
from regraph_kg.wiring.stores import open_store


class _Stopped(Interrupted):
    """Ctrl-C: the searches that have not begun do not begin."""


@dataclass(slots=True)
class SearchEnd:
    """How one search ended; with --json as it is."""

    problem: str  # the problem as it was typed
    summary: RunSummary | None = None  # none where the search did not end
    error: str | None = None
    trace: Path | None = None
    code: Path | None = None  # the file with the answer's code
    go_on: str | None = None  # the command that goes on with it, where one can


def run(options: Options) -> bool:
    """Run the command; whether it found faster code (--dry-run: always)."""
    model_settings = traced_model(options.resume) if options.resume else {}
    settings = read_settings(**model_settings | ({"model": options.model} if options.model else {}))
    if options.function is not None:
        if len(options.problems) > 1 or options.resume:
            raise BadInput(
                "function: is of one C++ file, and of a new search; name that file alone"
            )
        from regraph_kg.cli.problem import problem_of  # noqa: PLC0415 (the parser comes with it)

        # its folder, made now or earlier
        with notes_aside(options.as_json):
            folder = problem_of(settings, Path(options.problems[0]), options.function)
        options = replace(options, problems=[f"{folder}/"])
    searches = choose(options, settings.model)
    if options.starter or (kind_of(searches[0].settings.method).walks and not options.resume):
        offer(settings, options.starter)
    if not options.dry_run:
        return run_searches(settings, options, searches)
    previews = [preview(settings, choice) for choice in searches]
    if not answered(previews, options.as_json):
        for one in previews:
            typer.echo(str(one))
    return True


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


def run_searches(settings: Settings, options: Options, searches: Sequence[SearchChoice]) -> bool:
    """Search for each problem and print the results; whether any was improved.

    Raises the error of a search, a resumable one first, where none was improved; `AnswersPending`
    for searches that wait for answers by file, also after improvements.
    """
    several = len(searches) > 1
    ends: list[SearchEnd] = []
    errors: list[RegraphError] = []
    with open_searches(settings, searches[0]) as shared:
        for choice in searches:
            ends.append(SearchEnd(choice.problem))
            error = _attempt(settings, shared, options, choice, ends)
            if error is not None:
                errors.append(error)
                ends[-1].error = str(error)
                if several:
                    say(f"{choice.problem}: {error}")
            if isinstance(error, _Stopped):
                break
        for end in ends if several else ():
            if end.go_on:
                say(end.go_on)
        if left := options.problems[len(ends) :]:
            say(f"not begun: {', '.join(left)}")
        if options.as_json and (several or ends[0].summary):
            print_json(ends if several else ends[0].summary)
        # prompts of all searches are written to one file, so that they are answered together
        shared.finish("run the commands above" if several else f"go on: {ends[0].go_on}")
    return _verdict(ends, errors)


def _attempt(
    settings: Settings,
    shared: OpenSearches,
    options: Options,
    choice: SearchChoice,
    ends: Sequence[SearchEnd],
) -> RegraphError | None:
    """Run one search, print its result and fill in its end, the last of `ends`.

    Returns the error that ended it, so that the others go on.
    """
    end = ends[-1]
    try:
        if not options.resume:
            # before the check of the problem, which takes up to half a minute
            require_graph(settings, choice)
        if choice.judge is None:
            require_good(settings, choice.problem)
        with (
            shared.search(choice) as search,
            begin(search, options.runs, options.resume) as run,
            # by file a call takes hours, so that each gets a line
            progress(choice.limits.calls, every=choice.model.by_file) as show,
        ):
            output = _output(options, run)
            if any(other.code == output for other in ends):
                raise BadInput(
                    f"{output}: another problem of this name has its code there; name one"
                )
            end.trace = run.trace
            place = output if options.output else None
            end.go_on = resume_command(options, choice.problem, run.trace, place)
            end.summary = follow(run, show, output, end.go_on)
            end.code, end.go_on = output, None
        if not options.as_json:
            places = {"problem": chosen_problem(settings, end.problem), "code": str(output)}
            print_summary(end.summary, places | {"trace": str(end.trace)})
    except RegraphError as error:
        return error
    except KeyboardInterrupt:  # while its parts were opened
        return _Stopped("stopped; run the same command again")
    except Exception as error:  # noqa: BLE001 (a bug of ours)
        unexpected = RegraphError(
            f"unexpected {type(error).__name__}: {error}; --debug shows where"
        )
        unexpected.__cause__ = error
        return unexpected
    return None


def _output(options: Options, run: LiveRun) -> Path:
    """The file of --output, in its folder for several problems; else beside the trace."""
    suffix = TARGETS[run.header.target].suffix
    if options.output is None:
        return run.trace.with_suffix(suffix)
    if len(options.problems) == 1:
        return options.output
    return options.output / f"{run.header.problem}{suffix}"


def follow(run: LiveRun, show: Show, output: Path, go_on: str) -> RunSummary:
    """Run the search with its output, measure the best again and write it.

    Raises `Interrupted` for Ctrl-C and for a lost model or store, and `ToolError`; each tells the
    best so far and the command that goes on. Raises `AnswersPending` where answers come by file.
    """
    header = run.header
    title = f"{header.problem} ({header.target})"
    show.say(f"{title}: {header.method}, at most {header.limits.calls} calls of {header.model}")
    if header.excluded and kind_of(header.method).walks:
        show.say(f"the graph is read without {header.excluded}'s own examples")
    show.say(f"trace: {run.trace}" + (" (its last line was torn: dropped)" if run.torn else ""))

    def ended(why: str, best: str) -> str:
        return "; ".join(filter(None, [why, best, f"go on: {go_on}"]))

    try:
        for record in run.records():
            show.record(record)
        if run.finalists:
            show.say("measuring the best again, in fresh processes")
        finished = run.finish()
    except KeyboardInterrupt:
        best = _keep_best(run, output) or "nothing faster so far"
        raise _Stopped(ended(f"stopped after {run.calls} calls", best)) from None
    except (ModelError, StoreError) as error:
        raise Interrupted(ended(str(error), _keep_best(run, output))) from None
    except ToolError as error:  # the machine must be mended first: not resumable as it is
        raise ToolError(ended(str(error), _keep_best(run, output))) from None
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
    except BadInput as error:
        # the search is lost only once, and the trace has the code
        return f"{line}, not written: {error}"
    return f"{line}, in {output}"


def _write(path: Path, code: str) -> None:
    with file_errors(path, "give another --output"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")


def _verdict(ends: Sequence[SearchEnd], errors: Sequence[RegraphError]) -> bool:
    """Whether any problem was improved, or the error that the command ends with.

    A negative result needs a search that its limits ended.
    """
    # a command that was stopped is not over, whatever it found meanwhile
    stopped = next((error for error in errors if isinstance(error, _Stopped)), None)
    if stopped:
        raise stopped
    summaries = [end.summary for end in ends if end.summary]
    if any(summary.improved for summary in summaries):
        return True
    resumable = next((error for error in errors if isinstance(error, Interrupted)), None)
    if resumable:
        raise resumable
    if errors and not summaries:
        raise errors[0]
    return False
