"""`regraph evaluate`: judge candidates against a problem's serial code."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from regraph_kg import wiring
from regraph_kg.api.sources import read_source
from regraph_kg.cli.answers import tell
from regraph_kg.cli.completion import complete_problem
from regraph_kg.cli.first_look import require_good
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.progress import telling
from regraph_kg.evaluation.compare import Comparison
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import comparable
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from regraph_kg.models.target import NEEDS, USUAL, Target
from regraph_kg.report import interval, roofline, seconds, times
from regraph_kg.settings import read_settings


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
        option("full: more inputs, three fresh workers in turn with the serial code."),
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
    judged = wiring.find_problem(settings, problem)
    codes = [Candidate(target, read_source(path)) for path in candidates]
    other = Candidate(target, read_source(against)) if against else None
    if other:
        comparable(judged)
    if not all(wiring.is_refused(code) for code in codes):
        require_good(settings, [problem])
    printer = _Printer(candidates, as_json, strict_timing, compares=other is not None)
    opened = wiring.local_judge if other else wiring.open_judge
    with telling() as tell, opened(settings, grade, tell) as judge:
        for code in codes:
            report = judge.evaluate(code, judged)
            comparison = None
            if other and report.passed and isinstance(judge, Judge):
                comparison = judge.compare(code, other, judged)
            tell("")
            printer.show(report, comparison)
    printer.end()
    if not printer.good:
        raise typer.Exit(1)


class _Printer:
    """Prints reports: one alone as it is, several with a table or as a JSON list."""

    def __init__(
        self, paths: Sequence[Path], as_json: bool, strict: bool, *, compares: bool
    ) -> None:
        self._paths, self._as_json = paths, as_json
        self._strict, self._compares = strict, compares
        self._reports: list[EvalReport] = []
        self.good = True

    def show(self, report: EvalReport, comparison: Comparison | None) -> None:
        """Print the next report; of two codes also how they compare, where both passed."""
        unsteady = report.outcome is Outcome.UNSTABLE_TIMING and not self._strict
        faster = comparison is not None and comparison.verdict == "faster"
        good = faster if self._compares else report.passed or unsteady
        self.good = self.good and good
        note = f"against    {comparison.verdict}: {comparison.reason}" if comparison else ""
        path = self._paths[len(self._reports)]
        self._reports.append(report)
        if self._as_json:
            if note:
                typer.echo(note, err=True)
            return
        if len(self._paths) > 1:
            typer.echo(f"--- {path}")
        typer.echo(_text(report))
        if note:
            typer.echo(note)

    def end(self) -> None:
        """Print the table or the JSON of all reports."""
        if self._as_json:
            reports = self._reports
            tell(ANSWERS["evaluate"], reports if len(reports) > 1 else reports[0])
        elif len(self._reports) > 1:
            typer.echo(f"\n{_table(self._paths, self._reports)}")


def _text(report: EvalReport) -> str:
    lines = [f"{report.problem} ({report.target}): {_outcome(report)}"]
    if report.timing and report.baseline and report.speedup and report.speedup_interval:
        unit = "run" if report.guarantee else "call"
        lines += [
            f"speedup    {times(report.speedup)}  (95 %: {interval(report.speedup_interval)})",
            f"candidate  {seconds(report.timing.median)} a {unit}",
            f"serial     {seconds(report.baseline.median)} a {unit}",
        ]
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


def _outcome(report: EvalReport) -> str:
    if report.outcome is Outcome.UNSTABLE_TIMING:
        return f"right; too noisy to time here ({report.outcome})"
    return report.outcome


def _stages(report: EvalReport) -> str:
    """Where the time went: "7.3 s: open 6.1, compile 0.6, verify 0.3, time 0.2"."""
    parts = {name: spent for name, spent in report.stages.items() if name != "total"}
    total = report.stages.get("total", sum(parts.values()))
    text = ", ".join(f"{name} {spent:.1f}" for name, spent in parts.items())
    return f"{total:.1f} s: {text}" if text else f"{total:.1f} s"


def _table(paths: Sequence[Path], reports: Sequence[EvalReport]) -> str:
    """One line a report: file, outcome, speedup with its interval."""
    width = max(len(str(path)) for path in paths)
    ends = max(len(report.outcome) for report in reports)
    lines = []
    for path, report in zip(paths, reports, strict=True):
        line = f"{path!s:<{width}}  {report.outcome:<{ends}}"
        if report.speedup and report.speedup_interval:
            line += f"  {times(report.speedup):>6}  ({interval(report.speedup_interval)})"
        lines.append(line.rstrip())
    return "\n".join(lines)


ANSWERS = {"evaluate": EvalReport | Sequence[EvalReport]}
"""A list of several candidates."""
