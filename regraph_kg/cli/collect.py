"""`regraph collect`: new trajectories from a model."""

from pathlib import Path
from typing import Annotated

import typer

from regraph_kg.cli.display import require_good
from regraph_kg.cli.parameters import Json, answered, argument, model_option, option
from regraph_kg.cli.progress import watch
from regraph_kg.collect.conversation import STEPS
from regraph_kg.collect.judged_steps import MIN_SPEEDUP
from regraph_kg.errors import AnswersPending, BadInput
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.target import NEEDS, USUAL, Target
from regraph_kg.models.trajectory import Source
from regraph_kg.runs import collect as stage
from regraph_kg.settings import read_settings


def collect(  # noqa: PLR0913 (a command's options)
    *,
    problems: Annotated[list[str], argument("Names, or folders.", metavar="PROBLEM...")],
    target: Annotated[Target, option(NEEDS)] = USUAL,
    output: Annotated[Path, option("The trajectories; FILE.journal lies beside it.")] = (
        Path("collected.jsonl")
    ),
    model: Annotated[
        str | None, model_option("A large model, which is asked step by step.")
    ] = None,
    trajectories: Annotated[int, option("Of each problem.", min=1, max=1000)] = 1,
    steps: Annotated[int, option("At most, of each.", min=1, max=100)] = STEPS,
    min_speedup: Annotated[float, option("Of the fastest step.", min=0)] = MIN_SPEEDUP,
    licence: Annotated[str, option("Of the code; stored with it.")] = "",
    by: Annotated[str, option("Who made it, where that is not the model asked.")] = "",
    as_json: Json = False,
) -> None:
    """Collect new trajectories from a model's answers.

    Every step is compiled, verified and timed; what fails is kept as a failure, what changes
    nothing is left out. A model is asked for one technique after the other (regraph docs ingest).

    The same command goes on where it was stopped, and pays for nothing twice. With another
    --min-speedup it only chooses anew. `regraph ingest FILE` takes the result into the graph.

    Exit code 0: something was kept; 1: nothing; 5: answers are to come by file.
    """
    settings = read_settings(model=model)
    asked = ModelSpec.parse(settings.model)
    if asked.is_recorded:
        raise BadInput("collect: no model; name one with --model, or REGRAPH_MODEL")
    choice = stage.CollectChoice(
        problems=tuple(dict.fromkeys(problems)),  # named twice, it would be paid for twice
        target=target,
        output=output,
        model=asked,
        trajectories=trajectories,
        steps=steps,
        min_speedup=min_speedup,
        credit=Source(model=by, licence=licence),
    )
    # A bad problem is found before a model is paid for it.
    for name in choice.problems:
        require_good(settings, name)
    gathered = watch(stage.collect(settings, choice))
    if not answered(gathered, as_json):
        typer.echo(f"{gathered}\nin: {output}")
    if gathered.waiting:
        raise AnswersPending(gathered.waiting)
    if not gathered.kept:
        raise typer.Exit(1)
