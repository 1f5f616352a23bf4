"""`regraph corpus`: what trajectory files show together."""

import tomllib
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter

from regraph_kg.cli.measure import read_trajectories
from regraph_kg.cli.parameters import argument, option
from regraph_kg.errors import BadInput, file_errors
from regraph_kg.settings import read_settings
from regraph_kg.survey.report import corpus_report
from regraph_kg.wiring.names import read_vocabulary
from regraph_kg.wiring.shipped import corpus_files, corpus_folder

_FIELDS = TypeAdapter(dict[str, list[str]])

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
    paths = files or list(corpus_files(settings))
    trajectories = [trajectory for path in paths for trajectory in read_trajectories(path)]
    usual = corpus_folder(settings) / "fields.toml"
    listed = read_fields(fields or usual) if fields or usual.exists() else {}
    typer.echo(corpus_report(trajectories, read_vocabulary(settings), listed), nl=False)


def read_fields(path: Path) -> dict[str, str]:
    """The field of each problem that a file lists; `BadInput` where it cannot be read."""
    with file_errors(path, "give another one with --fields"):
        content = path.read_bytes()
    try:
        listed = _FIELDS.validate_python(tomllib.loads(content.decode()))
    except ValueError as error:  # no UTF-8, no TOML, or of other values
        why = str(error).splitlines()[0]
        raise BadInput(f'{path}: give lines as FIELD = ["PROBLEM", ..]: {why}') from None
    fields: dict[str, str] = {}
    for field, problems in listed.items():
        for problem in problems:
            if fields.setdefault(problem, field) != field:
                raise BadInput(
                    f"{path}: {problem} is in {fields[problem]} and in {field}; name it once"
                )
    return fields
