"""Compare methods, graphs and models on a suite of problems."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import MofNCompleteColumn, TextColumn, TimeRemainingColumn

from benchmarks.bench import arms as bench_arms
from benchmarks.bench import results as results_file
from benchmarks.bench.arms import Arm
from benchmarks.bench.plan import BenchPlan, plan
from benchmarks.bench.record import BenchResults, BenchRun, LeftOut
from benchmarks.bench.run import BenchOrder, BenchSearch, RunningBench
from benchmarks.bench.tables import sections
from regraph_kg.cli.app import main
from regraph_kg.cli.parameters import Json, argument, option, print_json
from regraph_kg.cli.progress import telling, transient
from regraph_kg.cli.tables import PlainConsole, print_rows
from regraph_kg.errors import BadInput
from regraph_kg.models.method import SearchLimits
from regraph_kg.models.run import FinalGrade
from regraph_kg.models.target import NEEDS, TARGETS, USUAL
from regraph_kg.models.text import counted, times
from regraph_kg.runs.choice import usual_choice
from regraph_kg.settings import read_settings

CALLS = 24
FOLDER = Path("bench")


def bench(  # noqa: PLR0913 (a command's options)
    context: typer.Context,
    *,
    problems: Annotated[
        list[str] | None,
        argument(
            "Problems, or folders of problems.",
            metavar="PROBLEM",
            show_default="all that are shipped",
        ),
    ] = None,
    arm: Annotated[
        list[str] | None,
        option(
            "A method to compare; after a slash the graph it is shown: shuffled-statistics,"
            " shuffled-transforms, none; after + a setting of its method or prompts, or model=none."
            " May be repeated.",
            metavar="METHOD[/GRAPH][+NAME=VALUE]",
            show_default=", ".join(bench_arms.USUAL),
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        option(f"{NEEDS} May be repeated.", metavar="|".join(TARGETS), show_default=USUAL),
    ] = None,
    model: Annotated[
        str | None, option("As of regraph optimize.", show_default="the setting")
    ] = None,
    budget: Annotated[int, option("Verdicts of each search.", min=1)] = CALLS,
    seeds: Annotated[int, option("Searches of each arm and problem.", min=1)] = 1,
    parallel: Annotated[
        int,
        option(
            "Calls of the model at once, over all searches. At 1 model and judge take turns.", min=1
        ),
    ] = 1,
    final: Annotated[FinalGrade, option("How the best are measured again.")] = "full",
    into: Annotated[Path, option("The bench's folder; the same one again goes on.")] = FOLDER,
    drawn_from: Annotated[
        list[Path] | None,
        option("Only show these; run nothing. Repeatable.", "--from", metavar="RESULTS"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare methods at equal budgets: which share of PROBLEMs is solved, how fast, at what cost.

    Each search leaves the problem's own examples out of the graph. Figures have 95 % intervals
    over problems, and differences are taken problem by problem. Results and traces are kept in
    --into; the same command goes on with what was stopped.

    An arm such as mcgs/shuffled-statistics is a control: the method, with a graph that knows
    less. What does as well as the whole graph shows what the graph was not needed for.
    mcgs+prefill=no is the method without one part of its prompts.

    Exit code 0: the bench is done; 2: it cannot be, and why; 3: model, store or compiler are not
    there; 4: it was stopped, or they were lost, and the same command goes on.
    """
    if drawn_from:
        _refuse_others(context)
        _show([results_file.read(path) for path in drawn_from], as_json=as_json)
        return
    settings = read_settings(model=model)
    choice = replace(
        usual_choice("", settings.model),
        # unreadable answers end no search: arms are compared at equal verdicts
        limits=SearchLimits(verdicts=budget, unreadable=budget + 1),
        parallel=parallel,
        final=final,
    )
    # A bench asks hundreds of questions in turn, each after the answer to the last.
    if choice.model.by_file:
        raise BadInput(f"model {choice.model}: a bench does not wait for answers by file")
    unknown = next((name for name in target or () if name not in TARGETS), None)
    if unknown is not None:
        raise BadInput(f"--target {unknown}: know {', '.join(TARGETS)}")
    order = BenchOrder(
        settings,
        choice,
        into,
        ("python", "-m", "benchmarks.bench", *sys.argv[1:]),
        tuple(problems or ()),
        tuple(dict.fromkeys(map(Arm.parse, arm or bench_arms.USUAL))),
        tuple(name for name in TARGETS if name in (target or [USUAL])),
        seeds,
    )
    with results_file.locked(into), telling() as say:
        planned = plan(order, say)
        say("")
        results = _run(order, planned)
    if not results.runs:
        raise BadInput(f"{into}: every search was left out: {results.left_out[-1].why}")
    _show([results], as_json=as_json)


def _refuse_others(context: typer.Context) -> None:
    """Raise `BadInput` for an option that has no effect beside --from."""
    for param in context.command.params:
        name = param.name or ""
        source = context.get_parameter_source(name)
        if source and source.name == "COMMANDLINE" and name not in ("drawn_from", "as_json"):
            raise BadInput(f"{param.opts[0]} has no effect beside --from; leave it out")


def _run(order: BenchOrder, planned: BenchPlan) -> BenchResults:
    """Run the remaining searches; return the results."""
    remaining = planned.remaining
    finished = len(planned.searches) - len(remaining)
    before = f", {finished} are done" if finished else ""
    count = counted(len(remaining), "search", "searches")
    amounts = MofNCompleteColumn(), TextColumn("searches, left"), TimeRemainingColumn()
    with transient(*amounts) as bar:
        bar.console.print(f"{count} of {order.choice.limits.verdicts} verdicts each{before}")
        task = bar.add_task("", total=len(remaining))

        def ended(search: BenchSearch, run: BenchRun | LeftOut) -> None:
            bar.advance(task)
            title = f"{search.problem} ({search.target}) {search.arm}"
            bar.console.print(f"{title}: {_ended(run)}")

        bench = RunningBench(order, planned.begun, ended)
        results_file.write(bench.results, order.folder)
        # Each target has a judge of its own, so its searches run together.
        for _, searches in groupby(remaining, lambda search: search.target):
            bench.run(tuple(searches))
    return bench.results


def _ended(run: BenchRun | LeftOut) -> str:
    if isinstance(run, LeftOut):
        return f"left out: {run.why}"
    right = sum(answer.right for answer in run.answers)
    result = times(run.speedup) if run.improved else "nothing surely faster"
    answers = f"{right} of {len(run.answers)} answers right" if run.answers else "all by rule"
    return f"{result}, {answers}"


def _show(results: Sequence[BenchResults], *, as_json: bool) -> None:
    if as_json:
        if len(results) > 1:
            raise BadInput("json: of one RESULTS at a time")
        print_json(results[0])
        return
    console = PlainConsole()
    for section in (section for one in results for section in sections(one)):
        console.print(f"\n{section.title}", style="bold")
        for note in section.notes:
            console.print(f"note: {note}")
        for table in section.tables:
            console.print(table.title, style="italic")
            figures = range(1, len(table.columns)) if table.numbers else ()
            print_rows(table.columns, table.rows, figures, console)
        for name, text in section.facts.items():
            console.print(f"{name:<10} {text}")


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command(context_settings={"help_option_names": ["-h", "--help"]})(bench)

if __name__ == "__main__":
    main(app)
