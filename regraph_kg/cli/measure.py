"""`regraph measure`: judge every step of trajectory files and store what it measures."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import ValidationError

from regraph_kg import wiring
from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation import measure as stage
from regraph_kg.models.trajectory import Measurement, Trajectory
from regraph_kg.report import times
from regraph_kg.settings import read_settings


def measure(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Trajectory JSONL.")],
    grade: Annotated[
        Literal["screening", "full"],
        typer.Option(help="full: more inputs, three fresh workers in turn with the serial code."),
    ] = "full",
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Write into FILE, after each trajectory.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="Write here.", show_default="standard output")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also what this machine has measured before.")
    ] = False,
    run: Annotated[
        str | None, typer.Option(help="Name of this run.", show_default="the time")
    ] = None,
) -> None:
    """Compile, verify and time every step of the trajectories in FILEs, one run per trajectory.

    Trajectories that this machine, toolchain and judge have measured wholly are left as they are,
    so that an interrupted `--in-place` run is simply started again.

    Exit code 0: every step passed; 1: some step failed, and stays in the file with its outcome.
    """
    if in_place and output:
        raise BadInput("measure: give --in-place or --output FILE, not both")
    settings = read_settings()
    name = run or datetime.now(UTC).isoformat(timespec="seconds")
    read = {path: _read(path) for path in files}
    passed = True
    with wiring.open_judge(settings, grade) as judge:
        for path, index in _places(read):
            trajectory = read[path][index]
            if stage.is_measured(trajectory, judge) and not again:
                continue
            problem = wiring.find_problem(settings, trajectory.problem)
            read[path][index] = stage.measure(trajectory, problem, judge, name)
            passed &= _show(read[path][index])
            if in_place:
                _write(path, read[path])
    everything = [trajectory for trajectories in read.values() for trajectory in trajectories]
    if output:
        _write(output, everything)
    elif not in_place:
        typer.echo(_text(everything), nl=False)
    if not passed:
        raise typer.Exit(1)


def _places(read: dict[Path, list[Trajectory]]) -> Iterator[tuple[Path, int]]:
    return ((path, index) for path in read for index in range(len(read[path])))


def _read(path: Path) -> list[Trajectory]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; give a file of trajectories") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path}: not UTF-8 text; give a file of trajectories") from None
    trajectories = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                trajectories.append(Trajectory.model_validate_json(line))
            except ValidationError as error:
                first = error.errors()[0]
                field = ".".join(map(str, first["loc"])) or "line"
                raise BadInput(f"{path}:{number}: {field}: {first['msg']}; mend the line") from None
    return trajectories


def _text(trajectories: Sequence[Trajectory]) -> str:
    return "".join(
        t.model_dump_json(by_alias=True, exclude_defaults=True) + "\n" for t in trajectories
    )


def _write(path: Path, trajectories: Sequence[Trajectory]) -> None:
    """Replace the file as a whole: it is never half-written."""
    new = path.with_name(f"{path.name}.new")
    try:
        new.write_text(_text(trajectories), encoding="utf-8")
        os.replace(new, path)
    except OSError as error:
        raise ToolError(f"{path}: {error.strerror}; choose another place or free space") from None


def _show(trajectory: Trajectory) -> bool:
    """One line a step on stderr; whether all passed."""
    typer.echo(f"{trajectory.problem} ({trajectory.target})", err=True)
    newest = [step.measurements[-1] for step in trajectory.steps]
    for step, measurement in zip(trajectory.steps, newest, strict=True):
        typer.echo(f"  {_figures(measurement)}  {step.label}", err=True)
    return all(measurement.speedup for measurement in newest)


def _figures(measurement: Measurement) -> str:
    if not measurement.speedup:
        return f"{measurement.outcome:>23}"
    effect = times(measurement.effect) if measurement.effect else "?"
    return f"{times(measurement.speedup):>8}, step {effect:>8}"
