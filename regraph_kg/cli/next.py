"""`regraph next`: what the graph would try next on a code, and why."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from regraph_kg import report
from regraph_kg.api.graph import open_graph
from regraph_kg.api.sources import read_source
from regraph_kg.cli.answers import Json, tell
from regraph_kg.cli.tables import PlainConsole
from regraph_kg.models.next_steps import NextSteps, StepExample, SuggestedStep
from regraph_kg.models.target import USUAL, Target
from regraph_kg.models.technique import start_id

REASON = 160
"""Characters of an example's reasoning that are shown."""


def next(  # noqa: PLR0913 (the command's name; its options)
    *,
    code: Annotated[Path, typer.Argument(metavar="CODE_FILE", help="The code as it is now.")],
    after: Annotated[
        str | None,
        typer.Option(
            metavar="TECHNIQUE",
            help="What was applied to it last: id, name or alias.",
            show_default="nothing yet: serial code",
        ),
    ] = None,
    target: Annotated[Target, typer.Option(help="What the code is to run on.")] = USUAL,
    device: Annotated[
        str | None,
        typer.Option(
            help='Whose figures go first, as graphs name it; "" for any.',
            show_default="this machine's",
        ),
    ] = None,
    limit: Annotated[int, typer.Option("-k", min=1, help="How many techniques.")] = 5,
    examples: Annotated[int, typer.Option(min=1, max=10, help="Examples of each.")] = 1,
    exclude_problem: Annotated[
        str | None, typer.Option(metavar="NAME", help="Leave this problem's examples out.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Also say what cannot be applied to the code, and why.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what the graph would try next on CODE_FILE, and why: gains, tries, when it applies.

    No model is asked and nothing is run: these are the steps that others took from here and that
    your code has what they need for, ranked by what a try gained on average, failed ones included.
    Where few of those fit serial code, what others did elsewhere comes after them. The example of
    each began with the code most like yours. Techniques that your code shows already come last.

    Exit code 1: the graph knows nothing that follows, or nothing that fits.
    """
    read_source(code)  # before a store is started
    with open_graph() as graph:
        found = graph.next(
            code,
            after=after,
            target=target,
            device=device,
            limit=limit,
            examples=examples,
            exclude_problem=exclude_problem,
        )
    if as_json:
        tell(ANSWERS["next"], found)
    else:
        console = PlainConsole(soft_wrap=True)
        for line in _lines(found, code, every=every):
            console.print(line)
    if not found.steps:
        raise typer.Exit(1)


def _lines(found: NextSteps, code: Path, *, every: bool) -> Iterator[str]:
    last = "serial code" if found.after == start_id(found.target) else found.after
    if not found.steps and found.left_out:
        yield f"nothing that the graph knows to follow {last} ({found.target}) fits this code"
        yield from _left_out(found, every=every)
        return
    if not found.steps:
        yield f"the graph knows nothing that follows {last} ({found.target})"
        if last == "serial code":
            yield "fill it: regraph ingest --starter, or regraph ingest FILE"
        else:
            yield f"what it knows of the technique: regraph techniques show {found.after}"
        return
    where = f" on {found.device}" if found.device else ""
    yield f"after {last}{where}, the most promising first:"
    for number, step in enumerate(found.steps, 1):
        yield ""
        yield from _step(number, step)
    first = found.steps[0].technique
    after = "start" if last == "serial code" else found.after
    yield from _left_out(found, every=every)
    if found.steps[0].follows:
        yield ""
        yield f"codes before and after: regraph examples {after} {first} --code {code}"


def _left_out(found: NextSteps, *, every: bool) -> Iterator[str]:
    """What cannot be applied, or how many are."""
    if not found.left_out:
        return
    yield ""
    if not every:
        yield f"left out: {len(found.left_out)} that cannot apply to this code (--all says why)"
        return
    yield "left out, since they cannot be applied to this code:"
    for one in found.left_out:
        yield f"   {one.name} ({one.technique}): {one.why}"


def _step(number: int, step: SuggestedStep) -> Iterator[str]:
    there = "; your code seems to have it already" if step.in_code else ""
    yield f"{number}. {step.name} ({step.technique}){there}"
    yield f"   {_gain(step)}"
    yield f"   fits: {step.why}" if step.fits else f"   may fit: {step.why}"
    if step.applies:
        yield f"   when: {step.applies}"
    if step.hurts:
        yield f"   it hurts: {step.hurts}"
    for one in step.nearest:
        yield f"   example: {_example(one)}"


def _gain(step: SuggestedStep) -> str:
    """What came of it: "3.2x on average, 7.9x at best; 12 of 14 tries passed, on other devices"."""
    if not step.tried:
        seen = f"seen in {step.examples} examples" if step.examples else "in no example"
        return f"never measured; {seen}"
    where = ", on other devices" if step.measured == "other-devices" else ""
    where += "" if step.follows else ", after other techniques"
    passed = f"{step.verified} of {step.tried} tries passed{where}"
    declined = f"; {step.declined} times it did not apply" if step.declined else ""
    if step.effect is None or step.best is None:
        return passed + declined
    gain = f"{report.times(step.effect)} on average, {report.times(step.best)} at best"
    return f"{gain}; {passed}{declined}"


def _example(one: StepExample) -> str:
    parts = [f"{one.problem}, step {one.step}"]
    if one.similarity is not None:
        parts.append(f"similarity of its code to yours {report.similarity(one.similarity)}")
    if one.effect is not None:
        parts.append(f"{report.times(one.effect)} on {one.device}")
    said = " ".join(one.reasoning.split())
    if said:
        parts.append(said if len(said) <= REASON else f"{said[:REASON]}...")
    return "; ".join(parts)


ANSWERS = {"next": NextSteps}
