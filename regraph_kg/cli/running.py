"""The output of one search of `regraph optimize`: its beginning, its end, an early end.

Not here: the search itself (runs/search.py).
"""

import shlex
from collections.abc import Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path

from regraph_kg import report
from regraph_kg.cli.choice import resume_command
from regraph_kg.cli.display import Show, say
from regraph_kg.cli.options import Options
from regraph_kg.cli.progress import watch
from regraph_kg.errors import (
    BadInput,
    Interrupted,
    ModelError,
    RegraphError,
    StoreError,
    ToolError,
    file_errors,
)
from regraph_kg.models.run import RunSummary
from regraph_kg.models.target import TARGETS
from regraph_kg.runs.search import LiveRun
from regraph_kg.search.methods import kind_of
from regraph_kg.settings import Settings


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
    doubt = ""
    for record in run.records():
        show.record(record)
        if run.roof_doubt != doubt:
            doubt = run.roof_doubt
            show.say(f"limit.stop_at_roof does nothing here: {doubt}")
    spared = run.header.limits.calls - run.calls
    if run.stopped in ("roof", "patience") and spared > 0:
        reason = report.stopped(run.stopped, run.calls, run.header.limits, run.roof)
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
            chose = f", {report.free_choice(lesson.free.choice)}" if lesson.free else ""
            say(f"learned from {lesson.run}: {counts}{chose}")


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
