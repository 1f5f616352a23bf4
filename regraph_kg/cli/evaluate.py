"""`regraph evaluate`: judge candidates against a problem's serial code."""

from pathlib import Path
from typing import Annotated

import typer

from regraph_kg.cli.display import require_good
from regraph_kg.cli.parameters import Json, answered, argument, option, print_json
from regraph_kg.cli.progress import telling
from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.ptxas import unrun
from regraph_kg.evaluation.compile.source_rules import rejected
from regraph_kg.evaluation.gpu.device import find_gpus
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade
from regraph_kg.models.target import NEEDS, TARGETS, USUAL, Target
from regraph_kg.settings import read_settings
from regraph_kg.wiring.judges import open_judge
from regraph_kg.wiring.problems import find_problem
from regraph_kg.wiring.sources import read_source


def evaluate(
    *,
    problem: Annotated[str, argument("Folder of a problem, or a name of the corpus.")],
    candidates: Annotated[
        list[Path],
        argument("Source files that export the problem's entry point.", metavar="CANDIDATE"),
    ],
    target: Annotated[Target, option(NEEDS)] = USUAL,
    grade: Annotated[
        Grade,
        option(
            "glance: compiles, right at some shapes, timed briefly; proves less. screening: right"
            " wherever it was tried, timed. full: more inputs, fresh workers in turn with the"
            " serial code."
        ),
    ] = "screening",
    against: Annotated[
        Path | None, option("Other code: is CANDIDATE faster? Both in turn; grade full.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compile, run, verify and time each CANDIDATE; say how it compares with the serial code.

    The problem itself is looked at when it is new (regraph problem check).

    Exit code 0: all passed, and are faster than --against where that is given, or are right and too
    noisy to time here; 1: one failed, and the diagnosis says why, or is not faster; 3: cuda, and
    this machine has no GPU: findings of compiler and text in place of verdicts.
    """
    settings = read_settings()
    judged = find_problem(settings, problem)
    other = read_source(against) if against else None
    codes = [Candidate(target, read_source(path), other) for path in candidates]
    if TARGETS[target].on_gpu:
        try:
            find_gpus()
        except ToolError:
            found = {str(path): unrun(settings.cache_dir, read_source(path)) for path in candidates}
            if not answered(found, as_json):
                typer.echo("\n".join(f"{path}: {told}" for path, told in found.items()))
            raise
    # nothing runs for refused code, so that its problem need not be looked at
    if not all(rejected(code.code) for code in codes):
        require_good(settings, problem)
    reports, good = list[EvalReport](), True
    with telling() as say, open_judge(settings, "full" if other else grade, say) as judge:
        for path, code in zip(candidates, codes, strict=True):
            report = judge.evaluate(code, judged)
            is_faster = other and report.passed and report.compared.verdict == "faster"
            say("")
            reports.append(report)
            good = good and bool(is_faster if other else report.outcome.is_right)
            if not as_json:
                heading = f"--- {path}\n" if len(candidates) > 1 else ""
                typer.echo(f"{heading}{report}")
    if as_json:
        print_json(reports if len(reports) > 1 else reports[0])
    if not good:
        raise typer.Exit(1)
