"""`regraph next`: the graph's suggestions for the next step on a code."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from regraph_kg import report
from regraph_kg.api.graph import open_graph
from regraph_kg.api.sources import read_source
from regraph_kg.cli.json_answers import answered
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.tables import PlainConsole
from regraph_kg.models.next_steps import NextSteps, StepExample, SuggestedStep
from regraph_kg.models.target import USUAL, Target
from regraph_kg.models.technique import start_id

REASON = 160
"""Characters of an example's reasoning that are shown."""


def next(  # noqa: PLR0913 (the command's name; its options)
    *,
    code: Annotated[Path, argument("The code as it is now.", metavar="CODE_FILE")],
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
    exclude_problem: Annotated[
        str | None, option("Leave this problem's examples out.", metavar="NAME")
    ] = None,
    every: Annotated[
        bool, option("Also say what cannot be applied to the code, and why.", "--all")
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
    read_source(code)  # a bad file fails before a store starts
    with open_graph() as graph:
        answer = graph.next(
            code,
            after=after,
            target=target,
            device=device,
            limit=limit,
            examples=examples,
            exclude_problem=exclude_problem,
        )
    if not answered(answer, as_json):
        console = PlainConsole(soft_wrap=True)
        for line in _lines(answer, code, every=every):
            console.print(line)
    if not answer.steps:
        raise typer.Exit(1)


def _lines(answer: NextSteps, code: Path, *, every: bool) -> Iterator[str]:
    serial = answer.after == start_id(answer.target)
    last = "serial code" if serial else answer.after
    if answer.steps:
        where = f" on {answer.device}" if answer.device else ""
        yield f"after {last}{where}, the most promising first:"
    elif answer.left_out:
        yield f"nothing that the graph knows to follow {last} ({answer.target}) fits this code"
    else:
        yield f"the graph knows nothing that follows {last} ({answer.target})"
        if serial:
            yield "fill it: regraph ingest --starter, or regraph ingest FILE"
        else:
            yield f"what it knows of the technique: regraph techniques show {last}"
    for number, step in enumerate(answer.steps, 1):
        yield ""
        yield from _step(number, step)
    yield from _left_out(answer, every=every)
    if answer.steps and answer.steps[0].follows:
        pair = f"{'start' if serial else last} {answer.steps[0].technique}"
        yield ""
        yield f"codes before and after: regraph examples {pair} --code {code}"


def _left_out(answer: NextSteps, *, every: bool) -> Iterator[str]:
    """The steps that cannot apply, or their number."""
    if not answer.left_out:
        return
    yield ""
    if not every:
        yield f"left out: {len(answer.left_out)} that cannot apply to this code (--all says why)"
        return
    yield "left out, since they cannot be applied to this code:"
    for step in answer.left_out:
        yield f"   {step.name} ({step.technique}): {step.why}"


def _step(number: int, step: SuggestedStep) -> Iterator[str]:
    note = "; your code seems to have it already" if step.in_code else ""
    yield f"{number}. {step.name} ({step.technique}){note}"
    yield f"   {_gain(step)}"
    yield f"   fits: {step.why}" if step.fits else f"   may fit: {step.why}"
    if step.applies:
        yield f"   when: {step.applies}"
    if step.hurts:
        yield f"   it hurts: {step.hurts}"
    for example in step.nearest:
        yield f"   example: {_example(example)}"


def _gain(step: SuggestedStep) -> str:
    """Statistics as "3.2x on average; 12 of 14 tries passed, on other devices"."""
    if not step.tried:
        examples = f"seen in {step.examples} examples" if step.examples else "in no example"
        return f"no try of its own; {examples}"
    where = ", on other devices" if step.measured == "other-devices" else ""
    where += "" if step.follows else ", after other techniques"
    passed = f"{step.verified} of {step.tried} tries passed{where}"
    declined = f"; {step.declined} times it did not apply" if step.declined else ""
    if step.effect is None:
        return passed + declined
    return f"{report.times(step.effect)} on average; {passed}{declined}"


def _example(example: StepExample) -> str:
    parts = [f"{example.problem}, step {example.step}"]
    if example.similarity is not None:
        parts.append(f"similarity of its code to yours {report.similarity(example.similarity)}")
    if example.effect is not None:
        parts.append(f"{report.times(example.effect)} on {example.device}")
    reasoning = " ".join(example.reasoning.split())
    if reasoning:
        parts.append(reasoning if len(reasoning) <= REASON else f"{reasoning[:REASON]}...")
    return "; ".join(parts)
