"""`regraph runs`: searches, their results and states."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from regraph_kg import report
from regraph_kg.cli import display
from regraph_kg.cli.completion import complete_run
from regraph_kg.cli.json_answers import answered, print_json
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.progress import telling
from regraph_kg.cli.tables import print_rows
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.compare import Comparison
from regraph_kg.models.evaluation import Candidate
from regraph_kg.models.run import RunSummary
from regraph_kg.models.text import plain
from regraph_kg.search.run_record import RunRecord
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.key import trace_key

FOLDER = Path("runs")


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in the list."""

    run: str
    problem: str
    target: str
    method: str
    model: str
    calls: int
    most_calls: int
    seconds: float
    """Active seconds."""
    best: float | None
    """Speedup: of the answer, or as screened so far; None where nothing was faster."""
    low: float | None
    high: float | None
    state: str


class RunShown(RunSummary):
    """A run's summary, and its state in words."""

    state: str


@dataclass(frozen=True, slots=True)
class RunsCompared:
    """Two runs, and whether their times may be compared."""

    first: RunLine
    second: RunLine
    comparable: bool
    why_not: str | None
    again: Comparison | None = None
    """Both answers timed in turn, with --again."""


def runs(
    *,
    named: Annotated[
        list[str] | None,
        argument(
            "Traces, or the beginnings of their names.",
            metavar="[RUN [OTHER]]",
            show_default="all, as a table",
            autocompletion=complete_run,
        ),
    ] = None,
    folder: Annotated[Path, option("Folder of traces.", "--runs")] = FOLDER,
    code: Annotated[bool, option("Only RUN's fastest right code.")] = False,
    again: Annotated[bool, option("Of two: time both answers now, in turn, by one judge.")] = False,
    problem: Annotated[str | None, option("With --again: their problem's folder.")] = None,
    as_json: Json = False,
) -> None:
    """Runs of regraph optimize: a table of all, what RUN found, or how RUN compares with OTHER.

    Times of two runs were taken apart: they are compared only where problem, serial code, device,
    compilers and judge are the same, and even then as two numbers with their intervals. --again
    times the two codes in turn, in fresh processes of one judge: that ratio can be trusted.

    Exit code 1: with --code, where nothing was faster than the serial code; of two, where they are
    not comparable, and why.
    """
    if len(named or ()) > 2:  # noqa: PLR2004
        raise BadInput("runs: give none, one or two")
    settings = read_settings()
    records = [_read(settings, trace_of(name, folder)) for name in named or ()]
    if len(records) == 1:
        _show(settings, records[0], code=code, as_json=as_json)
    elif records:
        _compare(settings, records, problem, again=again, as_json=as_json)
    else:
        _list(settings, folder, as_json=as_json)


def _show(settings: Settings, record: RunRecord, *, code: bool, as_json: bool) -> None:
    if code:
        best = record.answer[0] if record.answer else next(iter(record.finalists), None)
        if best is None:
            raise typer.Exit(1)
        typer.echo(plain(best.code or ""))
    elif as_json:
        print_json(RunShown(**dict(record.summary()), state=state_of(record)))
    else:
        rows = {"state": state_of(record), "trace": str(record.path)}
        display.print_summary(settings, record.summary(), rows)


def _compare(
    settings: Settings,
    pair: Sequence[RunRecord],
    problem: str | None,
    *,
    again: bool,
    as_json: bool,
) -> None:
    why = _not_comparable(*pair)
    lines = [_line(run) for run in pair]
    timed = _again(settings, pair, problem) if again and why is None else None
    if not answered(RunsCompared(lines[0], lines[1], why is None, why, timed), as_json):
        _print(lines)
        typer.echo(f"not comparable: {why}" if why else _compared(timed, pair))
    if why is not None:
        raise typer.Exit(1)


def trace_of(name: str, folder: Path) -> Path:
    """The trace that a path, a name in `folder`, or the beginning of one means."""
    if Path(name).is_file():
        return Path(name)
    traces = {trace.stem: trace for trace in _traces(folder)}
    matches = [traces[stem] for stem in traces if stem == name] or [
        traces[stem] for stem in traces if stem.startswith(name)
    ]
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(trace.stem for trace in matches)
        raise BadInput(f"run {name}: {len(matches)} begin so: {names}")
    raise BadInput(f"run {name}: neither a file nor a run in {folder}/ (regraph runs)")


def state_of(record: RunRecord) -> str:
    """The state in words: under way with the time left, interrupted, or done."""
    calls, most, state = record.cost.calls, record.header.limits.calls, record.state()
    if state in ("running", "measuring the best again"):
        seconds = record.seconds / calls * (most - calls) if calls else 0.0
        eta = f", at most {report.seconds(seconds)} left" if seconds > 0 else ""
        return f"under way: {calls} of {most} calls{eta}"
    if state == "not finished":
        return "interrupted: --resume goes on"
    return "done" if record.answer else "done: nothing surely faster"


def _list(settings: Settings, folder: Path, *, as_json: bool) -> None:
    lines, unread = list[RunLine](), list[str]()
    for trace in _traces(folder):
        try:
            lines.append(_line(_read(settings, trace)))
        except BadInput as error:
            unread.append(str(error))
    if as_json:
        print_json(lines)
    elif lines:
        _print(lines)
    else:
        typer.echo(f"no runs in {folder}/; regraph optimize PROBLEM makes one")
    for why in unread:
        typer.echo(why, err=True)


def _print(lines: Sequence[RunLine]) -> None:
    rows = list[tuple[str, ...]]()
    for line in lines:
        sure = f" ({line.low:.3g} to {line.high:.3g})" if line.low and line.high else ""
        best = f"{report.times(line.best)}{sure}" if line.best else "-"
        calls = f"{line.calls} of {line.most_calls}"
        cells = (line.run, f"{line.problem} ({line.target})", line.method, line.model)
        rows.append((*cells, calls, report.seconds(line.seconds), best, line.state))
    headings = ("run", "problem", "method", "model", "calls", "time", "best", "state")
    print_rows(headings, rows, (4, 5))


def _line(record: RunRecord) -> RunLine:
    answer, header = record.answer, record.header
    sure = answer[1].speedup_interval if answer else None
    screened = record.bests[-1].step.speedup if record.bests and not record.finished else None
    return RunLine(
        record.path.stem,
        header.problem,
        header.target,
        header.method,
        header.model.partition(" ")[0],
        record.cost.calls,
        header.limits.calls,
        round(record.seconds, 1),
        answer[1].speedup if answer else screened,
        sure.low if sure else None,
        sure.high if sure else None,
        state_of(record),
    )


def _not_comparable(first: RunRecord, second: RunRecord) -> str | None:
    """Why two runs' times cannot be compared; None where they can."""
    for record in (first, second):
        if record.answer is None:
            return f"{record.path.stem} has no answer ({state_of(record)})"
    for name in ("problem", "serial", "target"):
        ours, theirs = getattr(first.header, name), getattr(second.header, name)
        if ours != theirs:
            difference = f"{ours}, {theirs}" if name != "serial" else "they began with other code"
            return f"{name}: {difference}"
    assert first.answer is not None
    assert second.answer is not None
    return first.answer[1].differs_from(second.answer[1])


def _again(settings: Settings, pair: Sequence[RunRecord], problem: str | None) -> Comparison:
    """Time both answers in turn by one judge."""
    from regraph_kg.wiring.judges import local_judge  # noqa: PLC0415 (numpy; a list needs none)
    from regraph_kg.wiring.problems import find_problem  # noqa: PLC0415

    chosen = find_problem(settings, problem or pair[0].header.problem)
    first, second = (
        Candidate(run.header.target, run.answer[0].code or "") for run in pair if run.answer
    )
    with telling() as tell, local_judge(settings, "full", tell) as judge:
        return judge.compare(first, second, chosen)


def _compared(again: Comparison | None, pair: Sequence[RunRecord]) -> str:
    if again is not None:
        sure = again.interval
        return (
            f"timed in turn: the first is {again.verdict}, {report.times(again.ratio)}"
            f" as fast (99.9 %: {report.times(sure.low)} to {report.times(sure.high)})"
        )
    speeds = [run.answer[1].speedup or 1.0 for run in pair if run.answer]
    return (
        f"taken apart: the first is {report.times(speeds[0] / speeds[1])} as fast as the second;"
        " --again times both in turn"
    )


def _traces(folder: Path) -> list[Path]:
    if folder != FOLDER and not folder.is_dir():  # the first run makes the usual folder
        raise BadInput(f"{folder}: no folder of runs; give another one with --runs")
    return sorted(folder.glob("*.jsonl"))


def _read(settings: Settings, trace: Path) -> RunRecord:
    return RunRecord.read(trace, trace_key(settings))
