"""`regraph runs`: searches, their results and states."""

from pathlib import Path
from typing import Annotated

import typer

from regraph_kg.cli import display
from regraph_kg.cli.parameters import Json, argument, option, print_json
from regraph_kg.cli.tables import print_rows
from regraph_kg.errors import BadInput
from regraph_kg.models.text import plain, seconds, times
from regraph_kg.search.run_record import RunRecord
from regraph_kg.settings import read_settings
from regraph_kg.wiring.key import trace_key

FOLDER = Path("runs")


def runs(
    *,
    named: Annotated[
        str | None,
        argument(
            "A trace, or the beginning of its name.",
            metavar="[RUN]",
            show_default="all, as a table",
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
    key = trace_key(read_settings())
    if named is None:
        _list(key, folder, as_json=as_json)
    else:
        _show(RunRecord.read(trace_of(named, folder), key), code=code, as_json=as_json)


def _show(record: RunRecord, *, code: bool, as_json: bool) -> None:
    if code:
        best = record.answer[0] if record.answer else next(iter(record.finalists), None)
        if best is None:
            raise typer.Exit(1)
        typer.echo(plain(best.code or ""))
    elif as_json:
        print_json(_told(record))
    else:
        rows = {"state": state_of(record), "trace": str(record.path)}
        display.print_summary(record.summary(), rows)


def _told(record: RunRecord) -> dict[str, object]:
    """A run's summary, its name and its state."""
    return dict(record.summary()) | {"run": record.path.stem, "state": state_of(record)}


def trace_of(name: str, folder: Path) -> Path:
    """The trace that a path, a name in `folder`, or the beginning of one means."""
    # a path goes first: a stem of another folder may look like it
    if Path(name).is_file():
        return Path(name)
    traces = {trace.stem: trace for trace in _traces(folder)}
    # a whole name goes before names that begin with it
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
    """The state in words: under way, interrupted, or done."""
    spent, most, state = record.cost.verdicts, record.header.limits.verdicts, record.state()
    if state in ("running", "measuring the best again"):
        return f"under way: {spent} of {most} verdicts"
    if state == "not finished":
        return "interrupted: --resume goes on"
    return "done" if record.answer else "done: nothing surely faster"


def _list(key: bytes, folder: Path, *, as_json: bool) -> None:
    records, unread = list[RunRecord](), list[str]()
    for trace in _traces(folder):
        try:
            records.append(RunRecord.read(trace, key))
        except BadInput as error:
            # one strange file must not hide all the others
            unread.append(str(error))
    if as_json:
        print_json(list(map(_told, records)))
    elif records:
        headings = ("run", "problem", "method", "model", "verdicts", "time", "best", "state")
        print_rows(headings, map(_row, records), (4, 5))
    else:
        typer.echo(f"no runs in {folder}/; regraph optimize PROBLEM makes one")
    for why in unread:
        typer.echo(why, err=True)


def _row(record: RunRecord) -> tuple[str, ...]:
    """A run in the table; its speedup is the answer's, or as screened so far."""
    header, best = record.header, "-"
    if record.answer:
        verdict = record.answer[1]
        sure = f" ({verdict.speedup_interval.as_times})" if verdict.speedup_interval else ""
        best = f"{times(verdict.speedup or 1)}{sure}"
    elif record.bests and not record.finished:
        best = times(record.bests[-1].step.speedup or 1)
    return (
        record.path.stem,
        f"{header.problem} ({header.target})",
        header.method,
        header.model.partition(" ")[0],
        f"{record.cost.verdicts} of {header.limits.verdicts}",
        seconds(record.seconds),
        best,
        state_of(record),
    )


def _traces(folder: Path) -> list[Path]:
    if folder != FOLDER and not folder.is_dir():  # the first run makes the usual folder
        raise BadInput(f"{folder}: no folder of runs; give another one with --runs")
    return sorted(folder.glob("*.jsonl"))
