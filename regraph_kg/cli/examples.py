"""`regraph examples`: observed steps from one technique to another, and what they changed."""

import difflib
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from regraph_kg.cli.parameters import Json, answered, argument, option
from regraph_kg.cli.tables import PlainConsole
from regraph_kg.errors import BadInput
from regraph_kg.models.graph import Example, Likeness
from regraph_kg.models.target import Target
from regraph_kg.models.technique import by_id, resolve_pair
from regraph_kg.models.text import times
from regraph_kg.settings import read_settings
from regraph_kg.wiring.sources import read_source
from regraph_kg.wiring.stores import open_store

CONTEXT = 2  # unchanged lines shown around a change


def examples(  # noqa: PLR0913 (a command's options)
    *,
    source: Annotated[
        str | None,
        argument("Technique before: id, name or alias; or start.", show_default="any transition"),
    ] = None,
    technique: Annotated[
        str | None, argument("Technique after.", metavar="TARGET", show_default=False)
    ] = None,
    target: Annotated[
        Target | None, option("Where names are looked up; whose examples are shown.", "--target")
    ] = None,
    limit: Annotated[int, option("How many, best first.", "-k", min=1)] = 3,
    near: Annotated[
        str | None,
        option("Those most similar to TEXT by name, reasoning and detail.", metavar="TEXT"),
    ] = None,
    code: Annotated[
        Path | None,
        option(
            "Those that began with code most similar to that in FILE: what came of code like"
            " yours.",
            metavar="FILE",
        ),
    ] = None,
    device: Annotated[
        str | None, option("Prefer what was verified on it.", show_default="any")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show examples of the step from SOURCE to TARGET: code before and after, and its effect.

    With --near or --code, SOURCE and TARGET may be left out: the nearest of all examples.

    Exit code 1: there is none.
    """
    settings = read_settings()
    alike = [given for given in (near, code) if given is not None]
    # without a pair, something must say which examples are wanted
    if (source is None) != (technique is None) or not (source is None) <= len(alike) <= 1:
        raise BadInput("give SOURCE and TARGET, or --near TEXT or --code FILE, or a pair and one")
    text = near if code is None else read_source(code)
    if text is not None and not any(letter.isalnum() for letter in text):
        raise BadInput(f"{code or '--near'}: there is no word in it")
    pair = None
    like = None if text is None else Likeness(text, "words" if code is None else "code")
    with closing(open_store(settings)) as store:
        if source is not None and technique is not None:
            pair = resolve_pair(source, technique, by_id(store.techniques()), target)
            found = store.examples(*pair, device=device, limit=limit, near=like)
        else:
            assert like is not None
            found = store.nearest(like, k=limit, target=target)
    if not answered(found, as_json):
        console = PlainConsole()
        for number, example in enumerate(found, 1):
            _print(console, number, example, device)
        if not found:
            where = f"techniques show {pair[0]}" if pair else "graph report"
            typer.echo(f"there is no such example; see regraph {where}")
    if not found:
        raise typer.Exit(1)


def _print(console: PlainConsole, number: int, example: Example, device: str | None) -> None:
    """Print an example: whose it is, its effect, what was said of it, and the change of code."""
    who = f", by {example.model}" if example.model else ", by somebody"
    who += f" (licence {example.licence})" if example.licence else " (no licence named)"
    title = f"{number}. {example.problem}, step {example.step}: {example.original_label!r}{who}"
    # a stranger's name must not begin a line of its own
    console.print(" ".join(title.split()), style="bold")
    path = f"{example.source} -> {example.target}"
    for text in (path, measured(example, device), example.reasoning, example.detail):
        if text:
            console.print(text)
    before, after = example.before.splitlines(), example.after.splitlines()
    # whole codes are long, and what a step changed is a few lines of them
    changed = [*difflib.unified_diff(before, after, "before", "after", n=CONTEXT, lineterm="")]
    for change in changed or ["(the code is unchanged)"]:
        style = {"-": "red", "+": "green"}.get(change[:1], "")
        console.print(change, style=style, soft_wrap=True)
    console.print()


def measured(example: Example, device: str | None = None) -> str:
    """One line: similarity if known, the step's effect, and the device.

    The effect on `device` comes first if the step passed there, else the latest; then the others.
    """
    near = "" if example.similarity is None else f"similarity {example.similarity:.2f}; "
    seen = example.seen_from(device)
    if seen is None:
        return f"{near}not timed ({example.outcome or 'never measured'})"
    effect, where = seen
    text = f"{near}{times(effect)} by this step"
    # speedup and toolchain are known of the latest measurement alone
    if where == example.device and example.speedup is not None and example.effect == effect:
        text += f", {times(example.speedup)} against the serial code, on {where}"
        text += f", {example.toolchain}"
    else:
        text += f", on {where}"
    elsewhere = sorted(item for item in example.effect_on.items() if item[0] != where)
    return text + "".join(f"; {times(effect)} on {other}" for other, effect in elsewhere)
