"""`regraph corpus`: trajectory files as a whole."""

from pathlib import Path
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.measure import read_trajectories
from regraph_kg.errors import ToolError
from regraph_kg.runs.corpus_report import corpus_report
from regraph_kg.settings import read_settings

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _root() -> None:
    """Trajectory files as a whole: what they show, and what they lack."""


@app.command()
def report(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE...]", help="Trajectory JSONL.", show_default="the corpus' trajectories"
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Write here.", show_default="standard output")
    ] = None,
) -> None:
    """Tell FILEs in Markdown: gains with intervals, doubles, dead ends, and what has no example.

    Best speedup and share of the roof of each problem; the effect of each transition on each device
    and by each metric; whether gains carry over between problems. No graph and no GPU is needed.
    """
    settings = read_settings()
    paths = files or list(wiring.corpus_files(settings))
    trajectories = [one for path in paths for one in read_trajectories(path)]
    text = corpus_report(trajectories, wiring.vocabulary(settings))
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ToolError(f"{output}: {error.strerror}; choose another place") from None
