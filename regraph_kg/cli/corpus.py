"""`regraph corpus`: what trajectory files show together."""

import tomllib
from pathlib import Path
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.measure import read_trajectories
from regraph_kg.cli.parameters import argument, option
from regraph_kg.errors import BadInput, file_errors
from regraph_kg.settings import read_settings
from regraph_kg.survey.report import corpus_report

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _root() -> None:
    """A corpus of trajectories as a whole."""


@app.command()
def report(
    files: Annotated[
        list[Path] | None,
        argument("Trajectory JSONL.", metavar="[FILE...]", show_default="the corpus' trajectories"),
    ] = None,
    *,
    fields: Annotated[
        Path | None,
        option(
            "TOML with the names of each field's problems; others are fields of their own.",
            show_default="fields.toml of the corpus",
        ),
    ] = None,
) -> None:
    """Report on trajectories, as Markdown: gains, gaps, doubles, dead ends, and foresight.

    Which problems, how long their verified paths, what each transition gained with its interval,
    which transitions are weak, which trajectories and problems are nearly equal, and how well the
    other fields foretell a field: the rank of the technique that was taken, and the correlation of
    gains, beside frequency and chance. No graph is needed.
    """
    settings = read_settings()
    paths = files or list(wiring.corpus_files(settings))
    trajectories = [trajectory for path in paths for trajectory in read_trajectories(path)]
    listed = read_fields(fields or wiring.corpus_folder(settings) / "fields.toml")
    typer.echo(corpus_report(trajectories, wiring.vocabulary(settings), listed), nl=False)


def read_fields(path: Path) -> dict[str, str]:
    """The field of each problem that a file lists; `BadInput` where it cannot be read."""
    with file_errors(path, "give another one with --fields"):
        text = path.read_text(encoding="utf-8")
    try:
        listed = tomllib.loads(text)
        return {problem: field for field, problems in listed.items() for problem in problems}
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise BadInput(f'{path}: give lines as FIELD = ["PROBLEM", ..]: {error}') from None
