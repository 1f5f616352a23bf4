"""`regraph evaluate`: judge one candidate against a problem's serial code."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from regraph_kg.errors import BadInput
from regraph_kg.models.base import Target
from regraph_kg.models.evaluation import Candidate, EvalReport
from regraph_kg.report import interval, roofline, seconds, times


def evaluate(
    problem: Annotated[str, typer.Argument(help="Name of a corpus problem, or its folder.")],
    candidate: Annotated[
        Path, typer.Argument(help="Source file that exports the problem's entry point.")
    ],
    target: Annotated[
        Target, typer.Option(help="cuda: nvcc and a GPU; openmp: g++ -fopenmp.")
    ] = "openmp",
    grade: Annotated[
        Literal["screening", "full"],
        typer.Option(help="full: more inputs, three fresh workers in turn with the serial code."),
    ] = "screening",
    against: Annotated[
        Path | None,
        typer.Option(help="Other code: is CANDIDATE faster? Fresh workers of both, in turn."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole report.")] = False,
) -> None:
    """Compile, run, verify and time CANDIDATE; say how it compares with the serial code.

    Exit code 0: it passed, and is faster than --against where that is given; 1: it failed, and the
    diagnosis says why, or it is not faster.
    """
    from regraph_kg import wiring  # noqa: PLC0415 (heavy)
    from regraph_kg.settings import read_settings  # noqa: PLC0415 (heavy)

    settings = read_settings()
    judged = wiring.find_problem(settings, problem)
    code = Candidate(target, _read(candidate))
    other = Candidate(target, _read(against)) if against else None
    if other:
        with wiring.local_judge(settings, grade) as judge:
            report = judge.evaluate(code, judged)
            _print(report, as_json)
            found = judge.compare(code, other, judged) if report.passed else None
        good = found is not None and found.verdict == "faster"
        if found:
            typer.echo(f"against    {against}: {found.verdict}: {found.reason}", err=as_json)
    else:
        with wiring.open_judge(settings, grade) as anyone:
            report = anyone.evaluate(code, judged)
        _print(report, as_json)
        good = report.passed
    if not good:
        raise typer.Exit(1)


def _print(report: EvalReport, as_json: bool) -> None:
    typer.echo(report.model_dump_json(indent=2) if as_json else _text(report))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; give a C++ or CUDA source file") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path}: not UTF-8 text; give a C++ or CUDA source file") from None


def _text(report: EvalReport) -> str:
    lines = [f"{report.problem} ({report.target}): {report.outcome}"]
    if report.timing and report.baseline and report.speedup and report.speedup_interval:
        lines += [
            f"speedup    {times(report.speedup)}  (95 %: {interval(report.speedup_interval)})",
            f"candidate  {seconds(report.timing.median)} a call",
            f"serial     {seconds(report.baseline.median)} a call",
        ]
    if report.account:
        lines.append(f"roofline   {roofline(report.account)}")
        lines += [f"note       {note}" for note in report.account.notes]
    if "profile" in report.facts:
        lines.append(f"profile    {report.facts['profile']}")
    if report.diagnosis:
        lines.append(report.diagnosis)
    lines.append(f"on {report.device}, {report.toolchain}, grade {report.grade}")
    return "\n".join(lines)
