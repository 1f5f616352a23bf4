"""`regraph lift`: a transform of a technique, from a person or a model, tried on what is known."""

import os
from pathlib import Path
from typing import Annotated

import typer

from regraph_kg import regular
from regraph_kg.cli.parameters import Json, answered, argument, option
from regraph_kg.cli.progress import watch
from regraph_kg.errors import BadInput, file_errors
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.runs.lift import lift_again, lift_by_model, lift_text
from regraph_kg.settings import read_settings
from regraph_kg.wiring.open_model import any_model

_MOST_BYTES = 20_000  # of a file: the graph keeps no more characters


def lift(
    technique: Annotated[str, argument("An id, a name or an alias.")],
    *,
    transform: Annotated[
        Path | None, option("A transform that you wrote: regraph docs transforms.", metavar="FILE")
    ] = None,
    model: Annotated[
        str | None,
        option(
            "A large model, which is shown the recorded steps and writes one.",
            metavar="ollama:NAME|openai:NAME|batch:FOLDER",
        ),
    ] = None,
    by: Annotated[str, option("Who wrote it.")] = "",
    as_json: Json = False,
) -> None:
    """Make a technique carry itself out: a transform, tried on each recorded step.

    Without --transform and --model those that the graph has are replayed here: what a file brought,
    what ships.

    It is carried out on the code before each step of TECHNIQUE that the graph has seen, and judged.
    Right on three problems and wrong on none, searches use it from now on; else the graph keeps it
    as a draft, with the reason. A model gets its failures back, twice at most.

    Exit code 0: accepted; 1: a draft; 5: the model's answer is to come by file.
    """
    if transform is not None and model is not None:
        raise BadInput("lift: give --transform FILE or --model NAME, not both")
    settings = read_settings(model=model)
    if transform is None and model is None:
        trials = watch(lift_again(settings, technique))
        if not answered([trial.transform for trial in trials], as_json):
            typer.echo("\n".join(map(str, trials)))
        raise typer.Exit(not all(trial.transform.accepted for trial in trials))
    if transform is not None:
        with file_errors(transform, "give a transform: regraph docs transforms"):
            text = regular.read_text(Path(os.path.realpath(transform)), _MOST_BYTES)
        trial = watch(lift_text(settings, technique, text, by))
    else:
        asked = any_model(settings, ModelSpec.parse(settings.model))
        trial = watch(lift_by_model(settings, technique, asked))
    if not answered(trial.transform, as_json):
        typer.echo(str(trial))
    raise typer.Exit(not trial.transform.accepted)
