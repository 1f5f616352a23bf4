"""Several problems in one `regraph optimize`: parallel searches that share model and judge.

Each search has its own thread, trace and output. One that fails leaves the others alone; Ctrl-C
ends all of them. Not here: their turns (search/executor.py).
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import typer

from regraph_kg import report, wiring
from regraph_kg.cli import display, running
from regraph_kg.cli.answers import answered
from regraph_kg.cli.choice import each_choice, every_call
from regraph_kg.cli.display import Show
from regraph_kg.cli.options import Options
from regraph_kg.errors import AnswersPending, BadInput, Interrupted, RegraphError
from regraph_kg.models.run import RunSummary, SearchChoice
from regraph_kg.runs.search import begin
from regraph_kg.settings import Settings
from regraph_kg.wiring import OpenSearches


@dataclass(slots=True)
class _State:
    """One search: its choice and its result."""

    choice: SearchChoice
    name: str
    """The problem as it was typed."""
    trace: Path | None = None
    handover: running.Handover | None = None
    summary: RunSummary | None = None
    """None where the search did not end."""
    error: RegraphError | None = None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The result of one of several searches, as JSON."""

    problem: str
    summary: RunSummary | None
    """None where the search did not end."""
    error: str | None
    trace: str | None
    code: str | None
    """The file with the answer's code."""
    go_on: str | None
    """The command that goes on with it, where one can."""


def run_several(settings: Settings, options: Options, choice: SearchChoice) -> bool:
    """Search for each problem; whether any was improved.

    Without an improvement it raises the error of a search. It raises `AnswersPending` for searches
    that wait for answers by file, also after improvements.
    """
    searches = [_State(search, search.problem) for search in each_choice(choice, options)]
    _require_distinct(settings, searches)
    pending: AnswersPending | None = None
    stopped = False
    with ThreadPoolExecutor(len(searches), "search") as threads:  # waits for them at the end
        try:
            pending = _run(settings, options, choice, searches, threads)
        except KeyboardInterrupt:
            stopped = True
    _tell(options, searches, stopped=stopped)
    if stopped:
        _go_on(searches)
        raise Interrupted("stopped; the commands above go on")
    if options.learn:
        finished = [search.trace for search in searches if search.summary and search.trace]
        running.learn(settings, options, finished)
    if pending is not None:
        _go_on(searches)
        raise pending
    return _improved(searches)


def _require_distinct(settings: Settings, searches: Sequence[_State]) -> None:
    """Raise `BadInput` for two folders with problems of one name: their files would collide."""
    named: dict[str, str] = {}
    for search in searches:
        try:
            name = wiring.find_problem(settings, search.name).name
        except BadInput:
            continue  # its search reports that
        if name in named:
            raise BadInput(f"{named[name]} and {search.name} are both problem {name}; name one")
        named[name] = search.name


def _run(
    settings: Settings,
    options: Options,
    choice: SearchChoice,
    searches: Sequence[_State],
    threads: ThreadPoolExecutor,
) -> AnswersPending | None:
    """Run all searches to their ends; return `AnswersPending` where answers come by file."""
    budgets = {search.name: search.choice.limits.calls for search in searches}
    every = every_call(options, choice)
    with (
        wiring.open_searches(settings, choice) as shared,
        display.progress(budgets, every=every) as shows,
    ):
        wait(
            [
                threads.submit(_search, shared, options, search, shows(search.name))
                for search in searches
            ]
        )
        try:
            shared.finish("run the commands above")
        except AnswersPending as error:
            return error
    return None


def _search(shared: OpenSearches, options: Options, state: _State, show: Show) -> None:
    """Run one search in its thread; keep and show the error that ends it."""
    try:
        with (
            shared.search(state.choice) as search,
            begin(search, options.runs, options.resume) as run,
        ):
            state.trace = run.trace
            state.handover = running.Handover.of(options, state.name, run)
            state.summary = running.follow(run, show, state.handover)
    except RegraphError as error:
        state.error = error
    except Exception as error:  # noqa: BLE001 (a bug of ours: the others go on)
        state.error = RegraphError(f"unexpected {type(error).__name__}: {error}")
        state.error.__cause__ = error
    show.say("done" if state.error is None else str(state.error))


def _tell(options: Options, searches: Sequence[_State], *, stopped: bool) -> None:
    """Print all results; `stopped`: Ctrl-C ended the searches together."""
    if answered(Sequence[SearchAnswer], [_plain(search) for search in searches], options.as_json):
        return
    rows = [(search.name, search.summary, _ended(search.error, stopped)) for search in searches]
    typer.echo(report.several_table(rows))
    for search in searches:
        if search.summary and not search.summary.improved:
            display.say(f"{search.name}: {report.shortfall(search.summary)}")


def _ended(error: RegraphError | None, stopped: bool) -> str:
    """Why there is no summary, in a word; Ctrl-C also stops searches that wait for the judge."""
    if isinstance(error, AnswersPending):
        return "waits"
    if isinstance(error, Interrupted) or (stopped and not isinstance(error, BadInput)):
        return "stopped"
    return "failed"


def _plain(search: _State) -> SearchAnswer:
    handover = search.handover
    return SearchAnswer(
        problem=search.name,
        summary=search.summary,
        error=None if search.error is None else str(search.error),
        trace=None if search.trace is None else str(search.trace),
        code=str(handover.output) if handover and search.summary else None,
        go_on=handover.go_on if handover and search.summary is None else None,
    )


def _go_on(searches: Sequence[_State]) -> None:
    """Print the command of each search that can go on."""
    for search in searches:
        if search.summary is None and search.handover:
            display.say(search.handover.go_on)


def _improved(searches: Sequence[_State]) -> bool:
    """Whether any problem was improved; raises an error, a resumable one first, if none finished.

    A negative result needs a search that its limits ended.
    """
    summaries = [search.summary for search in searches if search.summary]
    if any(summary.improved for summary in summaries):
        return True
    errors = [search.error for search in searches if search.error]
    resumable = next((error for error in errors if isinstance(error, Interrupted)), None)
    if resumable is not None:
        raise resumable
    if errors and not summaries:
        raise errors[0]
    return False
