"""The searches of one `regraph optimize`: their beginnings, their ends, early ends.

Several go on at once and share model and judge: each has its own thread, trace and output. One that
fails leaves the others alone; Ctrl-C ends all of them. Not here: a search itself
(runs/search.py), and the turns of several (search/executor.py).
"""

import shlex
from collections.abc import Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import typer

from regraph_kg import report
from regraph_kg.cli.display import Show, progress, say
from regraph_kg.cli.json_answers import answered
from regraph_kg.cli.options import Options, each_choice, every_call, resume_command
from regraph_kg.cli.progress import watch
from regraph_kg.errors import (
    AnswersPending,
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
from regraph_kg.runs.search import LiveRun, begin
from regraph_kg.search.methods import kind_of
from regraph_kg.settings import Settings
from regraph_kg.wiring.problems import find_problem
from regraph_kg.wiring.searches import OpenSearches, open_searches


@dataclass(frozen=True, slots=True)
class Handover:
    """The file of a search's best code, and the command that resumes the search."""

    output: Path
    go_on: str

    @classmethod
    def of(cls, options: Options, problem: str, run: LiveRun) -> "Handover":
        """The file of --output, in its folder for several problems; else beside the trace."""
        suffix = TARGETS[run.header.target].suffix
        if options.output is None:
            output = run.trace.with_suffix(suffix)
        elif len(options.problems) == 1:
            output = options.output
        else:
            output = options.output / f"{run.header.problem}{suffix}"
        named = output if options.output else None
        return cls(output, resume_command(options, problem, run.trace, named))


def introduce(run: LiveRun, show: Show) -> None:
    """Show the search and its trace."""
    header = run.header
    title = f"{header.problem} ({header.target})"
    show.say(f"{title}: {header.method}, at most {header.limits.calls} calls of {header.model}")
    if header.excluded and kind_of(header.method).walks:
        show.say(f"the graph is read without {header.excluded}'s own examples")
    show.say(f"trace: {run.trace}" + (" (its last line was torn: dropped)" if run.torn else ""))


def follow(run: LiveRun, show: Show, handover: Handover) -> RunSummary:
    """Run the search with its output, measure the best again and write it.

    Raises `Interrupted` for Ctrl-C, for the end of all searches, and for a lost model or store, and
    `ToolError`; both tell the best so far and the command that goes on. Raises `AnswersPending`
    where answers come by file.
    """
    introduce(run, show)
    try:
        _show(run, show)
        if run.finalists:
            show.say("measuring the best again, in fresh processes")
        ended = run.finish()
    except (KeyboardInterrupt, CancelledError):
        best = _keep_best(run, handover.output) or "nothing faster so far"
        raise Interrupted(_ended(f"stopped after {run.calls} calls", best, handover)) from None
    except (ModelError, StoreError) as error:
        raise Interrupted(_ended(str(error), _keep_best(run, handover.output), handover)) from None
    except ToolError as error:
        raise ToolError(_ended(str(error), _keep_best(run, handover.output), handover)) from None
    _write(handover.output, ended.code)
    return ended.summary


def _show(run: LiveRun, show: Show) -> None:
    """Search, show the progress, and say why the search stopped before its budget."""
    for record in run.records():
        show.record(record)
    spared = run.header.limits.calls - run.calls
    if run.stopped == "patience" and spared > 0:
        reason = report.stopped(run.stopped, run.calls, run.header.limits)
        show.say(f"stopped {reason}")


def learn(settings: Settings, options: Options, runs: Sequence[Path]) -> None:
    """Teach the graph the results of finished runs and print the counts; never raises.

    A failure is one line with the command: `regraph learn` can do it later.
    """
    from regraph_kg.runs.learn import learn_from  # noqa: PLC0415 (loads the judge)

    folders = [Path(problem) for problem in options.problems if Path(problem).is_dir()]
    try:
        learned = watch(learn_from(settings, runs, problems=folders))
    except RegraphError as error:
        words = ["regraph", "learn", *map(str, runs)]
        say(f"nothing was learned: {error}; later: {shlex.join(words)}")
        return
    for lesson in learned.runs:
        if lesson.refused:
            say(f"nothing was learned from {lesson.run}: {lesson.refused}")
        else:
            counts = f"{len(lesson.trajectories)} trajectories, {lesson.failures} failures"
            say(f"learned from {lesson.run}: {counts}")


def _ended(why: str, best: str, handover: Handover) -> str:
    """One line: why a search ended early, its best, and the command that goes on."""
    return "; ".join(filter(None, [why, best, f"go on: {handover.go_on}"]))


def _keep_best(run: LiveRun, output: Path) -> str:
    """Write the best screened code, if there is any, and say where it is."""
    best = next(iter(run.finalists), None)
    if best is None:
        return ""
    line = f"best so far {report.times(best.speedup or 0)}, not yet re-measured"
    try:
        _write(output, best.code or "")
    except BadInput as error:
        return f"{line}, not written: {error}"
    return f"{line}, in {output}"


def _write(path: Path, code: str) -> None:
    with file_errors(path, "give another --output"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")


@dataclass(slots=True)
class _State:
    """One search: its choice and its result."""

    choice: SearchChoice
    trace: Path | None = None
    handover: Handover | None = None
    summary: RunSummary | None = None
    """None where the search did not end."""
    error: RegraphError | None = None

    @property
    def problem(self) -> str:
        """The problem as it was typed."""
        return self.choice.problem


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
    searches = [_State(search) for search in each_choice(choice, options)]
    _require_distinct(settings, searches)
    end: AnswersPending | Interrupted | None = None
    with ThreadPoolExecutor(len(searches), "search") as threads:  # waits for them at the end
        try:
            end = _run(settings, options, choice, searches, threads)
        except KeyboardInterrupt:
            end = Interrupted("stopped; the commands above go on")
    stopped = isinstance(end, Interrupted)
    _tell(options, searches, stopped=stopped)
    if options.learn and not stopped:
        finished = [search.trace for search in searches if search.summary and search.trace]
        learn(settings, options, finished)
    if end is None:
        return _improved(searches)
    for search in searches:
        if search.summary is None and search.handover:
            say(search.handover.go_on)
    raise end


def _require_distinct(settings: Settings, searches: Sequence[_State]) -> None:
    """Raise `BadInput` for two folders with problems of one name: their files would collide."""
    named: dict[str, str] = {}
    for search in searches:
        try:
            name = find_problem(settings, search.problem).name
        except BadInput:
            continue  # its search reports that
        if name in named:
            raise BadInput(f"{named[name]} and {search.problem} are both problem {name}; name one")
        named[name] = search.problem


def _run(
    settings: Settings,
    options: Options,
    choice: SearchChoice,
    searches: Sequence[_State],
    threads: ThreadPoolExecutor,
) -> AnswersPending | None:
    """Run all searches to their ends; return `AnswersPending` where answers come by file."""
    budgets = {search.problem: search.choice.limits.calls for search in searches}
    every = every_call(options, choice)
    with (
        open_searches(settings, choice) as shared,
        progress(budgets, every=every) as shows,
    ):
        wait(
            [
                threads.submit(_search, shared, options, search, shows(search.problem))
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
            state.handover = Handover.of(options, state.problem, run)
            state.summary = follow(run, show, state.handover)
    except RegraphError as error:
        state.error = error
    except Exception as error:  # noqa: BLE001 (a bug of ours: the others go on)
        state.error = RegraphError(f"unexpected {type(error).__name__}: {error}")
        state.error.__cause__ = error
    show.say("done" if state.error is None else str(state.error))


def _tell(options: Options, searches: Sequence[_State], *, stopped: bool) -> None:
    """Print all results; `stopped`: Ctrl-C ended the searches together."""
    if answered([_plain(search) for search in searches], options.as_json):
        return
    rows = [(search.problem, search.summary, _ending(search.error, stopped)) for search in searches]
    typer.echo(report.several_table(rows))
    for search in searches:
        if search.summary and not search.summary.improved:
            say(f"{search.problem}: {report.shortfall(search.summary)}")


def _ending(error: RegraphError | None, stopped: bool) -> str:
    """Why there is no summary, in a word; Ctrl-C also stops searches that wait for the judge."""
    if isinstance(error, AnswersPending):
        return "waits"
    if isinstance(error, Interrupted) or (stopped and not isinstance(error, BadInput)):
        return "stopped"
    return "failed"


def _plain(search: _State) -> SearchAnswer:
    handover = search.handover
    return SearchAnswer(
        problem=search.problem,
        summary=search.summary,
        error=None if search.error is None else str(search.error),
        trace=None if search.trace is None else str(search.trace),
        code=str(handover.output) if handover and search.summary else None,
        go_on=handover.go_on if handover and search.summary is None else None,
    )


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
