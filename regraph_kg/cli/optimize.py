"""`regraph optimize`: search for faster code, trace the search, print the best and its path.

Here: the command, and one search. Several at once: several.py; --dry-run: dry_run.py.
"""

from pathlib import Path
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli import display, running
from regraph_kg.cli.choice import BUDGET, Options, choose, every_call, traced_model
from regraph_kg.cli.dry_run import preview
from regraph_kg.cli.problem import require_good
from regraph_kg.cli.several import run_several
from regraph_kg.cli.starter import offer
from regraph_kg.errors import AnswersPending
from regraph_kg.models.base import Target
from regraph_kg.models.method import WALKS, MethodName, Preset, Retrieval, Shown, Told
from regraph_kg.models.run import FinalGrade, SearchChoice
from regraph_kg.settings import Settings, read_settings


def optimize(  # noqa: PLR0913 (a command's options)
    *,
    problems: Annotated[
        list[str],
        typer.Argument(metavar="PROBLEM", help="Folders of problems, or names of the corpus."),
    ],
    method: Annotated[
        MethodName | None,
        typer.Option(
            help="How calls are spent (regraph docs methods); mcgs walks the technique graph.",
            show_default="mcgs",
        ),
    ] = None,
    preset: Annotated[
        Preset | None,
        typer.Option(help="MCGS as improved here, or as in the paper.", show_default="default"),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method; repeatable."),
    ] = None,
    target: Annotated[
        Target | None,
        typer.Option(help="openmp: g++ -fopenmp; cuda: nvcc and a GPU.", show_default="openmp"),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(help="Calls of the model for code, at most.", show_default=str(BUDGET)),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Active seconds, at most; calls under way are awaited.")
    ] = None,
    evaluations: Annotated[int | None, typer.Option(help="Evaluations, at most.")] = None,
    tokens: Annotated[
        int | None, typer.Option(help="Tokens of prompts and answers, at most.")
    ] = None,
    unreadable: Annotated[
        int | None,
        typer.Option(
            help="Answers in a row without any code, at most; then the search ends.",
            show_default="10",
        ),
    ] = None,
    parallel: Annotated[
        int | None,
        typer.Option(
            help="Calls of the model at once, at most; several problems share them.",
            show_default="1; by file 8",
        ),
    ] = None,
    examples: Annotated[
        int | None, typer.Option(help="Examples in a prompt, at most.", show_default="2")
    ] = None,
    retrieval: Annotated[
        Retrieval | None,
        typer.Option(
            help="Examples in a prompt: a transition's best, or those whose reasoning is nearest to"
            " the present code.",
            show_default="best",
        ),
    ] = None,
    show: Annotated[
        Shown | None,
        typer.Option(help="What a prompt shows of an example.", show_default="all"),
    ] = None,
    contrast: Annotated[
        int | None,
        typer.Option(help="Measured variants that a prompt contrasts.", show_default="0"),
    ] = None,
    known_failures: Annotated[
        int | None,
        typer.Option(
            help="Known failures of a transition that a prompt warns of.", show_default="2"
        ),
    ] = None,
    verdict: Annotated[
        Told | None,
        typer.Option(
            help="Who tells what a right step did: marks in its code, or the model, too.",
            show_default="markers",
        ),
    ] = None,
    fast: Annotated[
        bool,
        typer.Option(
            "--fast", help="A minute and 12 calls, shallow, no repairs, the best screened again."
        ),
    ] = False,
    final: Annotated[
        FinalGrade | None,
        typer.Option(help="How the best three are measured again.", show_default="full"),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of everything random.", show_default="0")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="recorded|ollama:NAME|openai:NAME|batch:FOLDER",
            help="Recorded answers of the corpus, a live model, or prompts and answers by file.",
            show_default="recorded",
        ),
    ] = None,
    judge: Annotated[
        Path | None,
        typer.Option(metavar="TRACE", help="Replay the verdicts of this trace; evaluate nothing."),
    ] = None,
    include_own: Annotated[
        bool | None,
        typer.Option(
            "--include-own/--exclude-problem",
            help="Let the search read this problem's own examples.",
            show_default="excluded",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="TRACE", help="Go on with an interrupted run, as it was."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Where the best code goes; a folder for several problems.",
            show_default="beside the trace",
        ),
    ] = None,
    runs: Annotated[Path, typer.Option(help="Folder for traces.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    learn: Annotated[
        bool, typer.Option("--learn", help="Add what was found to the graph (regraph learn).")
    ] = False,
    starter: Annotated[
        bool | None,
        typer.Option(
            help="Load the starter graph into an embedded store that is empty.",
            show_default="asked on a terminal",
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="A line for every call, not only for a new best.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only say what would be sent, and what it may cost."),
    ] = False,
    prompt: Annotated[
        bool, typer.Option("--prompt", help="With --dry-run: print the first prompt, too.")
    ] = False,
) -> None:
    """Search for a faster version of each PROBLEM: a model proposes, compiler and clock judge.

    The best three are measured again in fresh processes; only that speedup is reported, and code
    that is not surely faster than the serial code is no answer. Ctrl-C keeps the best so far.

    Several searches go on at once; they take turns at the model and the judge, and one that fails
    leaves the others alone. --fast is for a first look, --dry-run spends nothing.

    Exit code 0: faster code found (for one problem at least); 1: none found; 4: stopped, or 5:
    waiting for answers by file, and the command to go on is printed.
    """
    options = Options(
        problems=problems,
        method=method,
        preset=preset,
        sets=tuple(sets or ()),
        target=target,
        budget=budget,
        seconds=seconds,
        evaluations=evaluations,
        tokens=tokens,
        unreadable=unreadable,
        parallel=parallel,
        examples=examples,
        retrieval=retrieval,
        show=show,
        contrast=contrast,
        known_failures=known_failures,
        verdict=verdict,
        fast=fast,
        final=final,
        seed=seed,
        model=model,
        judge=judge,
        include_own=include_own,
        resume=resume,
        output=output,
        runs=runs,
        as_json=as_json,
        learn=learn,
        starter=starter,
        verbose=verbose,
        dry_run=dry_run,
        prompt=prompt,
    )
    if not _run(options):
        raise typer.Exit(1)


def _run(options: Options) -> bool:
    """The whole command; whether faster code was found, or would be looked for."""
    settings = read_settings(model=options.model or traced_model(options))
    choice = choose(options, settings.model)
    if options.starter or (choice.settings.method in WALKS and not options.resume):
        offer(settings, options.starter)
    if options.dry_run:
        preview(settings, options, choice)
        return True
    if choice.judge is None:
        require_good(settings, options.problems)
    if len(options.problems) > 1:
        return run_several(settings, options, choice)
    return _run_one(settings, options, choice)


def _run_one(settings: Settings, options: Options, choice: SearchChoice) -> bool:
    with (
        wiring.open_search(settings, choice) as search,
        running.open_trace(options, search) as trace,
    ):
        output = running.output_of(options, search, trace.path)
        go_on = running.go_on(options, choice.problem, trace.path, output)
        budgets = {choice.problem: choice.limits.calls}
        with display.progress(budgets, every=every_call(options, choice)) as shows:
            show = shows(choice.problem)
            running.introduce(search, trace, show)
            try:
                summary = running.run(search, trace, show, output, go_on)
            except AnswersPending:
                search.model.finish(f"go on: {go_on}")
                raise
    search.model.finish()
    if options.as_json:
        typer.echo(summary.model_dump_json(indent=2))
    else:
        rows = {
            "problem": wiring.chosen_problem(settings, choice.problem),
            "code": str(output),
            "trace": str(trace.path),
        }
        display.print_summary(settings, summary, rows)
    if options.learn:
        running.learn(settings, options, [trace.path])
    return summary.improved
