"""`regraph collect`: new trajectories from a model, a git history, or an evolution.

Not here: making and judging them (runs/collect.py).
"""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from regraph_kg.api.sources import read_source
from regraph_kg.cli.first_look import require_good
from regraph_kg.cli.json_answers import answered, notes_aside
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.progress import watch
from regraph_kg.collect.conversation import AskingLimits
from regraph_kg.collect.curate import CurationRules
from regraph_kg.collect.git_history import GitFile
from regraph_kg.errors import BadInput
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.target import NEEDS, USUAL, Target
from regraph_kg.models.trajectory import Source
from regraph_kg.runs import collect as stage
from regraph_kg.runs.ingest import Ingested, IngestSource, embed_new, ingest_files
from regraph_kg.settings import Settings, read_settings

_asked = partial(option, rich_help_panel="From a model")
_given = partial(option, rich_help_panel="From what there is")
_kept = partial(option, rich_help_panel="What is kept")
_LIMITS, _RULE = AskingLimits(), CurationRules()


def collect(  # noqa: PLR0913 (a command's options)
    *,
    problems: Annotated[
        list[str] | None, argument("Names, or folders.", metavar="PROBLEM...")
    ] = None,
    problem: Annotated[list[str] | None, option("As PROBLEM.", show_default=False)] = None,
    target: Annotated[Target, option(NEEDS)] = USUAL,
    output: Annotated[Path, option("The trajectories; FILE.journal lies beside it.")] = (
        Path("collected.jsonl")
    ),
    model: Annotated[
        str | None,
        _asked(
            "A large model, which is asked step by step.",
            metavar="ollama:NAME|openai:NAME|batch:FOLDER",
            show_default="REGRAPH_MODEL",
        ),
    ] = None,
    trajectories: Annotated[int, _asked("Of each problem.", min=1, max=1000)] = 1,
    steps: Annotated[int, _asked("At most, of each.", min=1, max=100)] = _LIMITS.steps,
    repairs: Annotated[int, _asked("Calls to mend a step.", min=0, max=20)] = _LIMITS.repairs,
    patience: Annotated[
        int,
        _asked("Ends after as many tries in a row that make nothing faster.", min=1, max=100),
    ] = _LIMITS.patience,
    backwards: Annotated[
        Path | None,
        _asked(
            "A fast version: the model takes one technique out after the other.", metavar="FILE"
        ),
    ] = None,
    git: Annotated[Path | None, _given("The history of --file.", metavar="REPO")] = None,
    file: Annotated[str | None, _given("Its path in REPO.")] = None,
    revision: Annotated[str, _given("The last commit that counts.")] = "HEAD",
    openevolve: Annotated[
        Path | None, _given("A checkpoint, or a run's output.", metavar="FOLDER")
    ] = None,
    best: Annotated[int, _given("Programs of FOLDER, the best.", min=1)] = 3,
    min_speedup: Annotated[float, _kept("Of the fastest step.", min=0)] = _RULE.min_speedup,
    max_reasoning: Annotated[int, _kept("Characters, a step.", min=0)] = _RULE.max_reasoning,
    max_steps: Annotated[int, _kept("A trajectory.", min=1)] = _RULE.max_steps,
    keep: Annotated[
        int | None, _kept("The fastest of a problem.", min=1, show_default="all")
    ] = None,
    licence: Annotated[str, option("Of the code; stored with it.")] = "",
    by: Annotated[str, option("Who made it, where that is not the model asked.")] = "",
    ingest: Annotated[bool, option("Into the graph, at the end.")] = False,
    dry_run: Annotated[bool, option("Only say what it would take.")] = False,
    as_json: Json = False,
) -> None:
    """Collect new trajectories: from a model's answers, a git history, or an evolution's programs.

    Every step is compiled, verified and timed; what fails is kept as a failure, what changes
    nothing is left out. A model is asked for one technique after the other (regraph docs ingest).
    With --git each commit of a file is a step, with --openevolve each program of a lineage.

    The same command goes on where it was stopped, and pays for nothing twice. With other rules of
    what is kept it only chooses anew.

    Exit code 0: something was kept; 1: nothing; 5: answers are to come by file.
    """
    named = tuple(dict.fromkeys([*(problems or ()), *(problem or ())]))
    if not named:
        raise BadInput("collect: no PROBLEM; regraph docs problems says what one is")
    settings = read_settings(model=model)
    choice = stage.CollectChoice(
        problems=named,
        target=target,
        origin=_given_steps(git, file, revision, openevolve, best)
        or _asked_model(settings, trajectories, AskingLimits(steps, repairs, patience), backwards),
        output=output,
        rules=CurationRules(min_speedup, max_reasoning, max_steps, keep),
        credit=Source(model=by, licence=licence),
    )
    _check(choice, model, backwards)
    if dry_run:
        _preview(settings, choice, as_json=as_json)
        return
    require_good(settings, choice.problems)
    gathered = watch(stage.collect(settings, choice))
    if not answered(gathered, as_json):
        typer.echo(_table(gathered, choice))
    if ingest and gathered.kept:
        with notes_aside(as_json):
            _ingest(settings, output)
    if gathered.waiting is not None:
        raise gathered.waiting
    if not gathered.kept:
        raise typer.Exit(1)


def _ingest(settings: Settings, output: Path) -> None:
    ingested = Ingested()
    watch(ingest_files(settings, IngestSource([output]), ingested))
    counts = ingested.counts
    watch(embed_new(settings))
    typer.echo(
        f"in the graph: {counts['added']} added, {counts['known']} known already,"
        f" {counts['rejected']} rejected"
    )


def _given_steps(
    git: Path | None, file: str | None, revision: str, openevolve: Path | None, best: int
) -> GitFile | stage.EvolutionRead | None:
    """The history that steps come from; None: a model is asked."""
    if git is not None and openevolve is not None:
        raise BadInput("collect: give --git or --openevolve, not both")
    if (git is None) is not (file is None):
        raise BadInput("collect: a history is one file's; give --git and --file together")
    if git is not None and file is not None:
        return GitFile(git, file, revision)
    return None if openevolve is None else stage.EvolutionRead(openevolve, best)


def _asked_model(
    settings: Settings, trajectories: int, limits: AskingLimits, backwards: Path | None
) -> stage.ModelAsked:
    spec = ModelSpec.parse(settings.model)
    if spec.is_recorded:
        raise BadInput("collect: no model; name one with --model, or REGRAPH_MODEL")
    best = read_source(backwards) if backwards else ""
    return stage.ModelAsked(spec, trajectories, limits, best)


def _check(choice: stage.CollectChoice, model: str | None, backwards: Path | None) -> None:
    """Raise `BadInput` for options that do not go together."""
    if isinstance(choice.origin, stage.ModelAsked):
        if backwards is not None and len(choice.problems) > 1:
            raise BadInput("--backwards: a fast version is of one PROBLEM; run it once for each")
        return
    if backwards is not None:
        raise BadInput("--backwards: a model goes back; give no --git or --openevolve with it")
    if len(choice.problems) > 1:
        raise BadInput("collect: one history is of one PROBLEM; run it once for each")
    if model is not None:
        raise BadInput("--model: nobody is asked where steps come from --git or --openevolve")


def _preview(settings: Settings, choice: stage.CollectChoice, *, as_json: bool) -> None:
    previews = stage.preview(settings, choice)
    asks = isinstance(choice.origin, stage.ModelAsked)
    if answered(previews, as_json):
        return
    for line in previews:
        for note in line.notes:
            typer.echo(note)
        if asks:
            typer.echo(
                f"{line.problem}: about {line.calls} calls (at most {line.most_calls}), about"
                f" {line.prompt_tokens} tokens of prompts, at most {line.output_tokens} of answers"
            )
        else:
            typer.echo(f"{line.problem}: {line.steps} steps to be judged; no model is asked")


def _table(gathered: stage.Gathered, choice: stage.CollectChoice) -> str:
    total, count = gathered.collected, len(gathered.kept)
    share = f" ({count / total:.0%})" if total else ""
    lines = [f"kept: {count} of {total} trajectories{share}, in {choice.output}"]
    lines += [f"left out: {ref}: {why}" for ref, why in gathered.left_out.items()]
    steps = sum(len(trajectory.steps) for trajectory in gathered.kept)
    failures = sum(len(trajectory.failures) for trajectory in gathered.kept)
    lines.append(f"in them: {steps} steps, {failures} failures")
    if isinstance(choice.origin, stage.ModelAsked):
        lines.append(f"asked now: {gathered.calls} calls, {gathered.tokens} tokens")
    if gathered.pending:
        lines.append(f"waiting for answers: {gathered.pending} trajectories")
    return "\n".join(lines)
