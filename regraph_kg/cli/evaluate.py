"""`regraph evaluate`: judge candidates against a problem's serial code."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from regraph_kg.api.sources import read_source
from regraph_kg.cli.completion import complete_problem
from regraph_kg.cli.first_look import require_good
from regraph_kg.cli.json_answers import answered
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.progress import telling
from regraph_kg.cli.tables import print_aligned
from regraph_kg.evaluation.compare import Comparison
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import comparable
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from regraph_kg.models.target import NEEDS, USUAL, Target
from regraph_kg.report import interval, roofline, seconds, times
from regraph_kg.settings import read_settings
from regraph_kg.wiring.judges import local_judge, open_judge
from regraph_kg.wiring.problems import find_problem, is_refused


def evaluate(  # noqa: PLR0913 (a command's options)
    *,
    problem: Annotated[
        str,
        argument("Folder of a problem, or a name of the corpus.", autocompletion=complete_problem),
    ],
    candidates: Annotated[
        list[Path],
        argument("Source files that export the problem's entry point.", metavar="CANDIDATE"),
    ],
    target: Annotated[Target, option(NEEDS)] = USUAL,
    grade: Annotated[
        Literal["screening", "full"],
        option("full: more inputs, fresh workers in turn with the serial code."),
    ] = "screening",
    against: Annotated[
        Path | None, option("Other code: is CANDIDATE faster? Fresh workers of both, in turn.")
    ] = None,
    strict_timing: Annotated[
        bool, option("Code that is too noisy to time here has failed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compile, run, verify and time each CANDIDATE; say how it compares with the serial code.

    The problem itself is looked at when it is new (regraph problem check). Several candidates are
    judged in one opening, and a table ends the output.

    Exit code 0: all passed, and are faster than --against where that is given, or are right and too
    noisy to time here; 1: one failed, and the diagnosis says why, or is not faster.
    """
    settings = read_settings()
    judged = find_problem(settings, problem)
    codes = [Candidate(target, read_source(path)) for path in candidates]
    other = Candidate(target, read_source(against)) if against else None
    if other:
        comparable(judged)
    if not all(is_refused(code) for code in codes):
        require_good(settings, [problem])
    reports, good = list[EvalReport](), True
    opened = local_judge if other else open_judge
    with telling() as say, opened(settings, grade, say) as judge:
        for path, code in zip(candidates, codes, strict=True):
            report, comparison = judge.evaluate(code, judged), None
            if other and report.passed and isinstance(judge, Judge):
                comparison = judge.compare(code, other, judged)
            say("")
            reports.append(report)
            if other:
                good &= comparison is not None and comparison.verdict == "faster"
            else:
                good &= is_good(report, strict=strict_timing)
            heading = path if len(candidates) > 1 else None
            _print(report, comparison, heading, as_json=as_json)
    if not answered(reports if len(reports) > 1 else reports[0], as_json):
        _print_table(candidates, reports)
    if not good:
        raise typer.Exit(1)


def is_good(report: EvalReport, *, strict: bool) -> bool:
    """Whether a candidate has not failed: what is too noisy to time here has only if `strict`."""
    return report.passed or (report.outcome is Outcome.UNSTABLE_TIMING and not strict)


def _print(
    report: EvalReport, comparison: Comparison | None, heading: Path | None, *, as_json: bool
) -> None:
    """Print a report, and how the code compares with --against; of JSON only the latter, aside."""
    if not as_json:
        if heading:
            typer.echo(f"--- {heading}")
        typer.echo(report_text(report))
    if comparison:
        typer.echo(f"against    {comparison.verdict}: {comparison.reason}", err=as_json)


def report_text(report: EvalReport) -> str:
    noisy = report.outcome is Outcome.UNSTABLE_TIMING
    outcome = f"right; too noisy to time here ({report.outcome})" if noisy else report.outcome
    lines = [f"{report.problem} ({report.target}): {outcome}"]
    if report.timing and report.baseline and report.speedup and report.speedup_interval:
        unit = "run" if report.guarantee else "call"
        lines += [
            f"speedup    {times(report.speedup)}  (95 %: {interval(report.speedup_interval)})",
            f"candidate  {seconds(report.timing.median)} a {unit}",
            f"serial     {seconds(report.baseline.median)} a {unit}",
        ]
    if "noise" in report.facts:
        lines.append(f"noise      {report.facts['noise']}")
    if report.load:
        lines.append(f"load       {report.load}: these times are no evidence")
    if report.account:
        lines.append(f"roofline   {roofline(report.account)}")
        lines += [f"note       {note}" for note in report.account.notes]
    if "profile" in report.facts:
        lines.append(f"profile    {report.facts['profile']}")
    if report.diagnosis:
        lines.append(report.diagnosis)
    if report.guarantee:
        lines.append(f"guarantee  {report.guarantee}")
    if report.stages:
        lines.append(f"time       {_stages(report)}")
    lines.append(f"on {report.device}, {report.toolchain}, grade {report.grade}")
    return "\n".join(lines)


def _stages(report: EvalReport) -> str:
    """The course of the time: "7.3 s: open 6.1, compile 0.6, verify 0.3, time 0.2"."""
    parts = {name: spent for name, spent in report.stages.items() if name != "total"}
    total = report.stages.get("total", sum(parts.values()))
    text = ", ".join(f"{name} {spent:.1f}" for name, spent in parts.items())
    return f"{total:.1f} s: {text}" if text else f"{total:.1f} s"


def _print_table(paths: Sequence[Path], reports: Sequence[EvalReport]) -> None:
    """One line for each of several reports: file, outcome, speedup with its interval."""
    rows = list[tuple[str, ...]]()
    for path, report in zip(paths, reports, strict=True):
        speedup = times(report.speedup) if report.speedup else ""
        spread = f"({interval(report.speedup_interval)})" if report.speedup_interval else ""
        rows.append((str(path), report.outcome, speedup, spread))
    if len(rows) > 1:
        typer.echo()
        print_aligned(rows)
