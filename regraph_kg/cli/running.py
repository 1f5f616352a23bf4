"""The searches of one `regraph optimize`, one after another: their beginnings and their ends.

They share a model and a judge. One that fails leaves the others alone; Ctrl-C ends them all. Not
here: a search itself (runs/search.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regraph_kg import report
from regraph_kg.cli.display import Show, print_summary, progress, say
from regraph_kg.cli.json_answers import answered
from regraph_kg.cli.options import Options, every_call, resume_command
from regraph_kg.cli.tables import print_aligned
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
from regraph_kg.models.text import times
from regraph_kg.runs.search import LiveRun, begin
from regraph_kg.search.methods import kind_of
from regraph_kg.settings import Settings
from regraph_kg.wiring.problems import chosen_problem, find_problem
from regraph_kg.wiring.searches import OpenSearches, open_searches


class _Stopped(Interrupted):
    """Ctrl-C: the searches that have not begun do not begin."""


@dataclass(slots=True)
class SearchEnd:
    """How one search ended; with --json as it is."""

    problem: str
    """The problem as it was typed."""
    summary: RunSummary | None = None
    """None where the search did not end."""
    error: str | None = None
    trace: Path | None = None
    code: Path | None = None
    """The file with the answer's code."""
    go_on: str | None = None
    """The command that goes on with it, where one can."""


def run_searches(settings: Settings, options: Options, searches: Sequence[SearchChoice]) -> bool:
    """Search for each problem and print the results; whether any was improved.

    Raises the error of a search, a resumable one first, where none was improved; `AnswersPending`
    for searches that wait for answers by file, also after improvements.
    """
    _require_distinct(settings, searches)
    several = len(searches) > 1
    ends: list[SearchEnd] = []
    errors: list[RegraphError] = []
    pending: AnswersPending | None = None
    with open_searches(settings, searches[0]) as shared:
        for choice in searches:
            ends.append(SearchEnd(choice.problem))
            error = _attempt(shared, options, choice, ends[-1])
            if error is not None:
                errors.append(error)
                ends[-1].error = str(error)
                if several:
                    say(f"{choice.problem}: {error}")
            if isinstance(error, _Stopped):
                break
        # prompts of all searches are written to one file, so that they are answered together
        try:
            shared.finish("run the commands above" if several else f"go on: {ends[0].go_on}")
        except AnswersPending as error:
            pending = error
    if several or ends[0].summary:
        _tell(settings, options, ends, several=several)
    return _verdict(ends, errors, pending)


def _attempt(
    shared: OpenSearches, options: Options, choice: SearchChoice, end: SearchEnd
) -> RegraphError | None:
    """Run one search; the error that ended it, so that the others go on."""
    try:
        _search(shared, options, choice, end)
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


def _search(shared: OpenSearches, options: Options, choice: SearchChoice, end: SearchEnd) -> None:
    """Run one search and fill in its end."""
    with (
        shared.search(choice) as search,
        begin(search, options.runs, options.resume) as run,
        progress(choice.limits.calls, every=every_call(options, choice)) as show,
    ):
        output = _output(options, run)
        end.trace = run.trace
        end.go_on = resume_command(
            options, choice.problem, run.trace, output if options.output else None
        )
        end.summary = follow(run, show, output, end.go_on)
        end.code, end.go_on = output, None


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
        return f"{line}, not written: {error}"
    return f"{line}, in {output}"


def _write(path: Path, code: str) -> None:
    with file_errors(path, "give another --output"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")


def _require_distinct(settings: Settings, searches: Sequence[SearchChoice]) -> None:
    """Raise `BadInput` for two folders with problems of one name: their files would collide."""
    named: dict[str, str] = {}
    for choice in searches if len(searches) > 1 else ():
        try:
            name = find_problem(settings, choice.problem).name
        except BadInput:
            continue  # its search reports that
        if name in named:
            raise BadInput(f"{named[name]} and {choice.problem} are both problem {name}; name one")
        named[name] = choice.problem


def _tell(
    settings: Settings, options: Options, ends: Sequence[SearchEnd], *, several: bool
) -> None:
    """Print the results: one as a table of its own, several as a line each."""
    if several:
        if answered(ends, options.as_json):
            return
        rows = [(end.problem, end.summary, "unfinished" if end.go_on else "failed") for end in ends]
        print_aligned(report.several_rows(rows))
        for end in ends:
            if end.summary and not end.summary.improved:
                say(f"{end.problem}: {report.shortfall(end.summary)}")
            elif end.go_on:
                say(end.go_on)
        if left := options.problems[len(ends) :]:
            say(f"not begun: {', '.join(left)}")
        return
    (end,) = ends
    assert end.summary is not None
    if not answered(end.summary, options.as_json):
        places = {
            "problem": chosen_problem(settings, end.problem),
            "code": str(end.code),
            "trace": str(end.trace),
        }
        print_summary(settings, end.summary, places)


def _verdict(
    ends: Sequence[SearchEnd], errors: Sequence[RegraphError], pending: AnswersPending | None
) -> bool:
    """Whether any problem was improved, or the error that the command ends with.

    A negative result needs a search that its limits ended.
    """
    # a command that was stopped or waits is not over, whatever it found meanwhile
    stopped = next((error for error in errors if isinstance(error, _Stopped)), None)
    if stopped or pending:
        raise stopped or pending or AssertionError
    summaries = [end.summary for end in ends if end.summary]
    if any(summary.improved for summary in summaries):
        return True
    resumable = next((error for error in errors if isinstance(error, Interrupted)), None)
    if resumable:
        raise resumable
    if errors and not summaries:
        raise errors[0]
    return False
