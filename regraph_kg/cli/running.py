"""One search of `regraph optimize`, from its open parts to its summary, and what ends it early."""

import shlex
from collections.abc import Sequence
from concurrent.futures import CancelledError
from pathlib import Path

from regraph_kg import report
from regraph_kg.cli.choice import Options, resume_command
from regraph_kg.cli.display import Show, say
from regraph_kg.cli.learn import learn_from
from regraph_kg.errors import (
    BadInput,
    Interrupted,
    ModelError,
    RegraphError,
    StoreError,
    ToolError,
)
from regraph_kg.models.base import Target
from regraph_kg.models.method import WALKS
from regraph_kg.models.run import RunSummary, SimulationRecord
from regraph_kg.models.technique import start_id
from regraph_kg.search.answer import final_answer, finalists, summarise
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.run import search as begin
from regraph_kg.search.trace import Trace
from regraph_kg.settings import Settings
from regraph_kg.wiring import DrySearch, OpenSearch

_SUFFIX: dict[Target, str] = {"openmp": ".cpp", "cuda": ".cu"}


def open_trace(options: Options, search: OpenSearch) -> Trace:
    """The trace to resume, or a new one once the graph is known to hold something."""
    if options.resume:
        return Trace.resume(options.resume, search.header, search.key)
    require_graph(search)
    return Trace.create(options.runs, search.header, search.key)


def require_graph(search: OpenSearch | DrySearch) -> None:
    """`BadInput` where the method walks the graph, and there is nothing to begin with."""
    header = search.header
    if header.method not in WALKS:
        return
    if not search.world.neighbours(start_id(header.target)).successors:
        without = f" without {header.excluded}'s own examples" if header.excluded else ""
        raise BadInput(
            f"the graph holds no {header.target} technique to begin with{without}:"
            " run regraph ingest --starter, or regraph ingest FILE"
        )


def introduce(search: OpenSearch, trace: Trace, show: Show) -> None:
    """Say what begins, and where it is written."""
    header = search.header
    what = f"{header.problem} ({header.target})"
    show.say(f"{what}: {header.method}, at most {header.limits.calls} calls of {header.model}")
    if header.method in WALKS and header.excluded:
        show.say(f"the graph is read without {header.excluded}'s own examples")
    show.say(f"trace: {trace.path}" + (" (its last line was torn: dropped)" if trace.torn else ""))


def run(search: OpenSearch, trace: Trace, show: Show, output: Path, go_on: str) -> RunSummary:
    """The search, its best measured again and written to `output`.

    Raises `Interrupted` for Ctrl-C, for a search that others were ended with, and for a model or
    store that is lost, and `ToolError`, with what was found so far and the command `go_on`;
    `AnswersPending` where answers are to come by file.
    """
    task, header = search.task, search.header
    records: list[SimulationRecord] = []
    world, ledger = trace.world(search.world), Ledger(header.limits)
    try:
        crew = trace.crew(search.crew)
        for record in begin(task, header, world, crew, ledger):
            trace.record(record)
            records.append(record)
            show.record(record)
        trace.stop(ledger.stopped or "exhausted")
        if finalists(records):
            show.say("measuring the best again, in fresh processes")
        answer = final_answer(task, records, world.evaluate_final)
    except (KeyboardInterrupt, CancelledError):
        stopped = f"stopped after {records[-1].spent if records else 0} calls"
        kept = _keep_best(records, output) or "nothing faster so far"
        raise Interrupted(_ended(stopped, kept, go_on)) from None
    except (ModelError, StoreError) as error:  # they have been asked for 30 s
        raise Interrupted(_ended(str(error), _keep_best(records, output), go_on)) from None
    except ToolError as error:
        raise ToolError(_ended(str(error), _keep_best(records, output), go_on)) from None
    _write(output, answer.code)
    return summarise(header, records, answer, ledger)


def output_of(options: Options, search: OpenSearch, trace: Path) -> Path:
    """Where a search's best code goes: --output, which is a folder for several problems."""
    suffix = _SUFFIX[search.header.target]
    if options.output is None:
        return trace.with_suffix(suffix)
    if len(options.problems) == 1:
        return options.output
    return options.output / f"{search.header.problem}{suffix}"


def go_on(options: Options, problem: str, trace: Path, output: Path) -> str:
    """The command that goes on with a search; the output is named where it was given."""
    return resume_command(options, problem, trace, output if options.output else None)


def learn(settings: Settings, options: Options, runs: Sequence[Path]) -> None:
    """Teach the graph what finished runs found, and say what came of it; never raises.

    The search is done and told: whatever fails here is one line, as `regraph learn` can do it.
    """
    folders = [Path(problem) for problem in options.problems if Path(problem).is_dir()]
    try:
        learned = learn_from(settings, runs, problems=folders)
    except RegraphError as error:
        words = ["regraph", "learn", *map(str, runs)]
        say(f"nothing was learned: {error}; later: {shlex.join(words)}")
        return
    for lesson in learned.lessons:
        if lesson.refused:
            say(f"nothing was learned from {lesson.run}: {lesson.refused}")
        else:
            counts = f"{len(lesson.trajectories)} trajectories, {lesson.failures} failures"
            say(f"learned from {lesson.run}: {counts}")


def _ended(why: str, kept: str, go_on: str) -> str:
    """Why a search ended early, what it leaves, how it goes on."""
    return "; ".join(filter(None, [why, kept, f"go on: {go_on}"]))


def _keep_best(records: Sequence[SimulationRecord], output: Path) -> str:
    """Write the best screened code, if there is any, and say where it is."""
    best = next(iter(finalists(records)), None)
    if best is None:
        return ""
    found = f"best so far {report.times(best.speedup or 0)}, not yet re-measured"
    try:
        _write(output, best.code or "")
    except BadInput as error:
        return f"{found}, not written: {error}"
    return f"{found}, in {output}"


def _write(path: Path, code: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; give another --output") from None
