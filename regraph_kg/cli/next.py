"""`regraph next`: the graph's suggestions for the next step on a code."""

from pathlib import Path
from typing import Annotated

import typer

from regraph_kg.api.graph import open_graph
from regraph_kg.cli.parameters import Json, answered, argument, option
from regraph_kg.cli.tables import PlainConsole
from regraph_kg.models.target import USUAL, Target
from regraph_kg.wiring.sources import read_source


def next(  # noqa: PLR0913 (the command's name; its options)
    *,
    code: Annotated[Path, argument("The code as it is now.", metavar="CODE_FILE")],
    function: Annotated[
        str | None,
        option(
            "One of its functions, with those that it calls; as of regraph problem new.",
            metavar="NAME",
            show_default="the whole file",
        ),
    ] = None,
    after: Annotated[
        str | None,
        option(
            "What was applied to it last: id, name or alias.",
            metavar="TECHNIQUE",
            show_default="nothing yet: serial code",
        ),
    ] = None,
    target: Annotated[Target, option("What the code is to run on.")] = USUAL,
    device: Annotated[
        str | None,
        option(
            'Whose figures go first, as graphs name it; "" for any.', show_default="this machine's"
        ),
    ] = None,
    limit: Annotated[int, option("How many techniques.", "-k", min=1)] = 5,
    examples: Annotated[int, option("Examples of each.", min=1, max=10)] = 1,
    as_json: Json = False,
) -> None:
    """Say what the graph would try next on CODE_FILE, and why: gains, tries, when it applies.

    No model is asked and nothing is run: these are steps that your code has what they need for, by
    what measured ones foretell, those on codes like yours before all. What only may fit comes after
    what fits; techniques that your code shows already come last.

    Exit code 1: the graph knows nothing that follows, or nothing that fits.
    """
    read_source(code)  # a bad file fails before a store starts
    with open_graph() as graph:
        answer = graph.next(
            code,
            function=function,
            after=after,
            target=target,
            device=device,
            limit=limit,
            examples=examples,
        )
    if not answered(answer, as_json):
        # strangers wrote the graph's texts: none of them steers the terminal
        console = PlainConsole(soft_wrap=True)
        console.print(str(answer))
        if answer.steps and answer.steps[0].follows:
            last = "start" if after is None else answer.after
            first = answer.steps[0].technique
            console.print(
                f"\ncodes before and after: regraph examples {last} {first} --code {code}"
            )
    if not answer.steps:
        raise typer.Exit(1)
