"""`regraph runs`: searches, their results and states."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from regraph_kg.cli import display
from regraph_kg.cli.completion import complete_run
from regraph_kg.cli.json_answers import print_json
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.tables import print_rows
from regraph_kg.errors import BadInput
from regraph_kg.models.text import plain, seconds, times
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


def runs(
    *,
    named: Annotated[
        str | None,
        argument(
            "A trace, or the beginning of its name.",
            metavar="[RUN]",
            show_default="all, as a table",
            autocompletion=complete_run,
        ),
    ] = None,
    folder: Annotated[Path, option("Folder of traces.", "--runs")] = FOLDER,
    code: Annotated[bool, option("Only RUN's fastest right code.")] = False,
    as_json: Json = False,
) -> None:
    """Runs of regraph optimize: a table of all, or what RUN found.

    Times of two runs were taken apart. Which of two codes is faster, says
    `regraph evaluate PROBLEM ONE --against OTHER`.

    Exit code 1: with --code, where nothing was faster than the serial code.
    """
    settings = read_settings()
    if named is None:
        _list(settings, folder, as_json=as_json)
    else:
        _show(settings, _read(settings, trace_of(named, folder)), code=code, as_json=as_json)


def _show(settings: Settings, record: RunRecord, *, code: bool, as_json: bool) -> None:
    if code:
        best = record.answer[0] if record.answer else next(iter(record.finalists), None)
        if best is None:
            raise typer.Exit(1)
        typer.echo(plain(best.code or ""))
    elif as_json:
        print_json(dict(record.summary()) | {"state": state_of(record)})
    else:
        rows = {"state": state_of(record), "trace": str(record.path)}
        display.print_summary(settings, record.summary(), rows)


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
        left = record.seconds / calls * (most - calls) if calls else 0.0
        eta = f", at most {seconds(left)} left" if left > 0 else ""
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
        best = f"{times(line.best)}{sure}" if line.best else "-"
        calls = f"{line.calls} of {line.most_calls}"
        cells = (line.run, f"{line.problem} ({line.target})", line.method, line.model)
        rows.append((*cells, calls, seconds(line.seconds), best, line.state))
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


def _traces(folder: Path) -> list[Path]:
    if folder != FOLDER and not folder.is_dir():  # the first run makes the usual folder
        raise BadInput(f"{folder}: no folder of runs; give another one with --runs")
    return sorted(folder.glob("*.jsonl"))


def _read(settings: Settings, trace: Path) -> RunRecord:
    return RunRecord.read(trace, trace_key(settings))
