"""`regraph optimize`: search for faster code, trace the search, print the best and its path."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regraph_kg.errors import AnswersPending, BadInput, Environment, Interrupted
from regraph_kg.models.base import Target
from regraph_kg.models.run import (
    McgsSettings,
    Method,
    PaperSettings,
    Preset,
    Retrieval,
    RunSummary,
    SearchChoice,
    SearchSettings,
    SimulationRecord,
    StandardSettings,
)
from regraph_kg.models.technique import start_id

if TYPE_CHECKING:
    from regraph_kg.search.trace import Trace
    from regraph_kg.wiring import OpenSearch

BUDGET = 50
_SUFFIX = {"openmp": ".cpp", "cuda": ".cu"}


@dataclass(frozen=True, slots=True)
class Options:
    """The command line as typed; None where an option was left out."""

    problem: str
    method: Method | None
    preset: Preset | None
    retrieval: Retrieval | None
    target: Target | None
    budget: int | None
    seed: int | None
    model: str | None
    judge: Path | None
    include_own: bool | None
    resume: Path | None
    output: Path | None
    runs: Path
    as_json: bool


def optimize(  # noqa: PLR0913 (a command's options)
    *,
    problem: Annotated[str, typer.Argument(help="Name of a corpus problem, or its folder.")],
    method: Annotated[
        Method | None,
        typer.Option(
            help="mcgs walks the technique graph; standard only prompts.", show_default="mcgs"
        ),
    ] = None,
    preset: Annotated[
        Preset | None,
        typer.Option(help="MCGS as improved here, or as in the paper.", show_default="default"),
    ] = None,
    retrieval: Annotated[
        Retrieval | None,
        typer.Option(
            help="Examples in a prompt: a transition's best, or those whose reasoning is nearest to"
            " the present code.",
            show_default="best",
        ),
    ] = None,
    target: Annotated[
        Target | None,
        typer.Option(help="openmp: g++ -fopenmp; cuda: nvcc and a GPU.", show_default="openmp"),
    ] = None,
    budget: Annotated[
        int | None, typer.Option(help="Calls of the model at most.", show_default=str(BUDGET))
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of everything random.", show_default="0")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="recorded|ollama:NAME|batch:FOLDER",
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
        typer.Option(help="Where the best code goes.", show_default="beside the trace"),
    ] = None,
    runs: Annotated[Path, typer.Option(help="Folder for traces.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Search for a faster version of PROBLEM: a model proposes, compiler and clock judge.

    The best three are measured again in fresh processes; only that speedup is reported, and code
    that is not surely faster than the serial code is no answer. Ctrl-C keeps the best so far.

    Exit code 0: faster code found; 1: none found; 4: stopped, or 5: waiting for answers by file,
    and the command to go on is printed.
    """
    options = Options(
        problem=problem,
        method=method,
        preset=preset,
        retrieval=retrieval,
        target=target,
        budget=budget,
        seed=seed,
        model=model,
        judge=judge,
        include_own=include_own,
        resume=resume,
        output=output,
        runs=runs,
        as_json=as_json,
    )
    if not _run(options):
        raise typer.Exit(1)


def choose(options: Options, model: str) -> SearchChoice:
    """What to run: the options, what they leave out as in the resumed trace, else the defaults.

    Raises `BadInput` for a budget that buys nothing and a preset that the method does not have.
    """
    from regraph_kg.search.trace import read_header  # noqa: PLC0415 (heavy)

    usual = SearchChoice(
        problem=options.problem,
        target="openmp",
        settings=_settings(options),
        budget=BUDGET,
        seed=0,
        model=model,
        judge=options.judge,
        include_own=False,
    )
    if options.resume:
        was = read_header(options.resume)
        asked = options.method or options.preset or options.retrieval
        usual = replace(
            usual,
            target=was.target,
            settings=usual.settings if asked else was.settings,
            budget=was.budget,
            seed=was.seed,
            include_own=was.excluded is None,
        )
    typed = {name: getattr(options, name) for name in ("target", "budget", "seed", "include_own")}
    choice = replace(usual, **{name: value for name, value in typed.items() if value is not None})
    if choice.budget < 1:
        raise BadInput(f"budget {choice.budget} buys no call of the model; give --budget 1 or more")
    return choice


def resume_command(options: Options, trace: Path) -> str:
    """What to type to go on: everything else is in the trace."""
    given = {"--model": options.model, "--judge": options.judge, "--output": options.output}
    words = ["regraph", "optimize", options.problem, "--resume", str(trace)]
    for name, value in given.items():
        words += [name, str(value)] if value is not None else []
    return shlex.join(words)


def _settings(options: Options) -> SearchSettings:
    if options.method != "standard":
        retrieval = options.retrieval or "best"
        if options.preset == "paper":
            return PaperSettings(retrieval=retrieval)
        return McgsSettings(retrieval=retrieval)
    for name in ("preset", "retrieval"):
        given = getattr(options, name)
        if given is not None:
            raise BadInput(f"{name} {given} is for mcgs; leave it out with --method standard")
    return StandardSettings()


def _run(options: Options) -> bool:
    """The whole command; whether faster code was found."""
    from regraph_kg import wiring  # noqa: PLC0415 (heavy)
    from regraph_kg.search.answer import final_answer, summarise  # noqa: PLC0415 (heavy)
    from regraph_kg.settings import read_settings  # noqa: PLC0415 (heavy)

    settings = read_settings(model=options.model)
    choice = choose(options, settings.model)
    with wiring.open_search(settings, choice) as search, _trace(options, search) as trace:
        output = options.output or trace.path.with_suffix(_SUFFIX[choice.target])
        records: list[SimulationRecord] = []
        world = trace.world(search.world)
        try:
            with _progress(choice.budget) as show:
                for record in wiring.start_search(search.task, search.header, world):
                    trace.record(record)
                    records.append(record)
                    show(record)
            _say("measuring the best again, in fresh processes")
            answer = final_answer(search.task, records, world.evaluate_final)
        except KeyboardInterrupt:
            kept = _keep_best(records, output)
            raise Interrupted(f"{kept}; go on: {resume_command(options, trace.path)}") from None
        except AnswersPending:
            search.model.finish(f"go on: {resume_command(options, trace.path)}")
            raise
        except Environment as error:
            raise type(error)(f"{error}; go on: {resume_command(options, trace.path)}") from None
    _write(output, answer.code)
    search.model.finish()
    summary = summarise(search.header, records, answer)
    if options.as_json:
        typer.echo(summary.model_dump_json(indent=2))
    else:
        _print(summary, output, trace.path)
    return summary.improved


def _trace(options: Options, search: "OpenSearch") -> "Trace":
    """The trace to resume, or a new one once the graph is known to hold something."""
    from regraph_kg.search.trace import Trace  # noqa: PLC0415 (heavy)

    header = search.header
    if options.resume:
        trace = Trace.resume(options.resume, header)
    else:
        if header.method == "mcgs":
            _require_graph(search)
        trace = Trace.create(options.runs, header)
    what = f"{header.problem} ({header.target})"
    _say(f"{what}: {header.method}, at most {header.budget} calls of {header.model}")
    if header.method == "mcgs" and header.excluded:
        _say(f"the graph is read without {header.excluded}'s own examples")
    _say(f"trace: {trace.path}" + (" (its last line was torn: dropped)" if trace.torn else ""))
    return trace


def _require_graph(search: "OpenSearch") -> None:
    header = search.header
    if not search.world.neighbours(start_id(header.target)).successors:
        without = f" without {header.excluded}'s own examples" if header.excluded else ""
        raise BadInput(
            f"the graph holds no {header.target} technique to begin with{without}:"
            " run regraph ingest corpus/trajectories/*.jsonl"
        )


@contextmanager
def _progress(budget: int) -> Iterator[Callable[[SimulationRecord], None]]:
    """Shows records: each new best as a line, and on a terminal a live bar with the path."""
    from rich.console import Console  # noqa: PLC0415 (heavy)
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
    )

    from regraph_kg import report  # noqa: PLC0415 (heavy)

    console = Console(stderr=True, highlight=False)
    text = TextColumn("calls, {task.description}", markup=False)
    columns = (BarColumn(), MofNCompleteColumn(), text)
    live = console.is_terminal
    best = 1.0
    with Progress(*columns, console=console, transient=True, disable=not live) as bar:
        task = bar.add_task("", total=budget)

        def show(record: SimulationRecord) -> None:
            nonlocal best
            bar.update(task, completed=record.spent, description=report.progress(record))
            if record.best_speedup > best:
                best = record.best_speedup
                console.print(report.new_best(record, budget), markup=False)

        yield show


def _keep_best(records: Sequence[SimulationRecord], output: Path) -> str:
    """Write the best screened code; a line that says how far the search came."""
    from regraph_kg import report  # noqa: PLC0415 (heavy)
    from regraph_kg.search.answer import finalists  # noqa: PLC0415 (heavy)

    spent = records[-1].spent if records else 0
    for best in finalists(records)[:1]:
        _write(output, best.code or "")
        found = f"best so far {report.times(best.speedup or 0)}, not yet re-measured, in {output}"
        return f"stopped after {spent} calls; {found}"
    return f"stopped after {spent} calls; nothing faster so far"


def _write(path: Path, code: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; give another --output") from None


def _print(summary: RunSummary, output: Path, trace: Path) -> None:
    from regraph_kg import report, wiring  # noqa: PLC0415 (heavy)

    typer.secho(report.headline(summary), bold=True)
    typer.echo(report.run_table(summary, {"code": str(output), "trace": str(trace)}))
    if summary.best_path:
        query = wiring.browser_query(techniques(summary))
        typer.echo(f"\nThis path's examples, in Neo4j Browser:\n{query}")


def techniques(summary: RunSummary) -> list[str]:
    """The answer's path as the graph knows it: technique ids, the start first, no sample marks."""
    return [start_id(summary.target), *(part.partition("#")[0] for part in summary.best_path)]


def _say(line: str) -> None:
    typer.echo(line, err=True)
