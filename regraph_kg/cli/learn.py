"""`regraph learn`: lessons of finished runs for the graph."""

from pathlib import Path
from typing import Annotated

import typer

from regraph_kg.cli.parameters import Json, answered, argument, option
from regraph_kg.cli.progress import watch
from regraph_kg.runs.learn import learn_from
from regraph_kg.settings import read_settings


def learn(
    *,
    runs: Annotated[list[Path], argument("Traces of finished runs.", metavar="RUN...")],
    problem: Annotated[
        list[Path] | None, option("Folder of a run's problem that is not in the corpus.")
    ] = None,
    dry_run: Annotated[bool, option("Only say what would be learned.")] = False,
    trust: Annotated[bool, option("Believe the verdicts in traces of others.")] = False,
    as_json: Json = False,
) -> None:
    """Teach the graph what finished RUNs of `regraph optimize` found: their verified paths.

    One trajectory for each verified path that was not extended, with what failed along it, marked
    as learned from the run's model. Learned examples stand below given ones, and no model's weigh
    more than the rest on a transition. The same run taught twice
    adds nothing.

    Refused: traces that this installation did not write, or that were changed (--trust believes
    them), runs of a recorded model or judge, runs that read their own problem's examples
    (run.include_own), runs that have not ended, and figures of an older judge. What was timed while
    the machine did other work is left out.

    Exit code 0: something was learned or known already; 1: no run taught anything.
    """
    story = learn_from(read_settings(), runs, problems=problem or (), trust=trust, dry=dry_run)
    learned = watch(story)
    if not answered(learned, as_json):
        typer.echo(str(learned))
    # a script that teaches after each search must notice that nothing came of it
    if not learned.taught:
        raise typer.Exit(1)
