"""`regraph examples`: observed steps from one technique to another, and what they changed."""

import difflib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from regraph_kg import report
from regraph_kg.api.sources import read_source
from regraph_kg.cli.completion import complete_technique
from regraph_kg.cli.json_answers import answered
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.tables import PlainConsole, wide_console
from regraph_kg.errors import BadInput
from regraph_kg.graph import GraphStore
from regraph_kg.llm.embedder import place
from regraph_kg.models.graph import UNMEASURED, Example
from regraph_kg.models.target import Target
from regraph_kg.runs.technique_names import by_id, resolve_pair
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.open_model import embedder_of
from regraph_kg.wiring.stores import browser_query, open_store

CONTEXT = 2
"""Unchanged lines shown around a change."""


def examples(  # noqa: PLR0913 (a command's options)
    *,
    source: Annotated[
        str | None,
        argument(
            "Technique before: id, name or alias; or start.",
            show_default="any transition",
            autocompletion=complete_technique,
        ),
    ] = None,
    technique: Annotated[
        str | None,
        argument(
            "Technique after.",
            metavar="TARGET",
            show_default=False,
            autocompletion=complete_technique,
        ),
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
    exclude_problem: Annotated[
        str | None, option("Leave this problem's examples out.", metavar="NAME")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show examples of the step from SOURCE to TARGET: code before and after, and its effect.

    With --near or --code, SOURCE and TARGET may be left out: the nearest of all examples.

    Exit code 1: there is none.
    """
    settings = read_settings()
    query = _query_text(near, code)
    if (source is None) != (technique is None):
        raise BadInput("give SOURCE and TARGET, or neither of them with --near or --code")
    if source is None and query is None:
        raise BadInput("give SOURCE and TARGET, or --near TEXT, or --code FILE")
    with closing(open_store(settings)) as store:
        vector = None
        if query is not None:
            embedder = embedder_of(settings, store.embedding_space())
            vector = place(query, "text" if code is None else "code", embedder)
        if source is None or technique is None:
            assert vector is not None
            path = None
            matches = store.nearest(vector, k=limit, target=target, exclude_problem=exclude_problem)
        else:
            path = resolve_pair(source, technique, by_id(store.techniques()), target)
            matches = store.examples(
                *path, device=device, limit=limit, exclude_problem=exclude_problem, near=vector
            )
        if device is not None:
            _say_if_unmeasured(store, path, device)
    if not answered(matches, as_json):
        _show(settings, matches, path, device)
    if not matches:
        raise typer.Exit(1)


def _query_text(near: str | None, code: Path | None) -> str | None:
    """The text of the similarity query, if any."""
    if near is not None and code is not None:
        raise BadInput("give --near or --code, not both")
    if code is not None:
        near = read_source(code)
    if near is not None and not any(letter.isalnum() for letter in near):
        raise BadInput(f"{code or '--near'}: there is no word in it")
    return near


def _say_if_unmeasured(store: GraphStore, path: tuple[str, str] | None, device: str) -> None:
    """Name the measured devices where none of the examples is from `device`."""
    devices = {
        row.device
        for row in store.transitions()
        if (row.tried or row.examples) and path in (None, (row.source, row.target))
    }
    if device not in devices:
        where = ", ".join(map(repr, sorted(devices - {UNMEASURED}))) or "no named device"
        step = "example" if path is None else "example of this step"
        typer.echo(f"no {step} was measured on {device!r}; they were on {where}", err=True)


def _show(
    settings: Settings,
    matches: tuple[Example, ...],
    path: tuple[str, str] | None,
    device: str | None,
) -> None:
    """Print examples, and the query for Neo4j Browser where the store has one."""
    if matches:
        console = wide_console()
        for number, example in enumerate(matches, 1):
            if number > 1:
                console.print()
            _print(console, number, example, device, with_path=path is None)
        if path is not None and settings.store != "embedded":
            query = browser_query(path)
            typer.echo(f"\nThese examples, in Neo4j Browser:\n{query}")
    elif path is not None:
        before, after = path
        typer.echo(
            f"no example leads from {before} to {after}; see regraph techniques show {before}"
        )
    else:
        typer.echo("there is no such example; see regraph graph stats")


def _print(
    console: PlainConsole, number: int, example: Example, device: str | None, *, with_path: bool
) -> None:
    """Print an example: whose it is, its effect, what was said of it, and the change of code."""
    who = f", by {example.model}" if example.model else ", by somebody"
    who += f" (licence {example.licence})" if example.licence else " (no licence named)"
    title = f"{number}. {example.problem}, step {example.step}: {example.original_label!r}{who}"
    console.print(" ".join(title.split()), style="bold")
    path = f"{example.source} -> {example.target}" if with_path else ""
    also = f"also: {', '.join(example.also)}" if example.also else ""
    for text in (path, measured(example, device), also, example.reasoning, example.detail):
        if text:
            console.print(text)
    for change in _change(example):
        style = {"-": "red", "+": "green"}.get(change[:1], "")
        console.print(change, style=style, soft_wrap=True)


def _change(example: Example) -> Sequence[str]:
    """What the step changed of the code, as a diff; unchanged lines stand only near it."""
    if example.disclosed == "statistics":
        return ["(no code: only statistics of it were disclosed)"]
    if example.disclosed == "diff":
        whose = "(the changed lines alone: its code was not disclosed)"
        return [whose, *example.diff.splitlines()]
    before, after = example.before.splitlines(), example.after.splitlines()
    changed = [*difflib.unified_diff(before, after, "before", "after", n=CONTEXT, lineterm="")]
    return changed or ["(the code is unchanged)"]


def measured(example: Example, device: str | None = None) -> str:
    """One line: similarity if known, the step's effect, and the device.

    The effect on `device` comes first if the step passed there, else the latest; then the others.
    """
    near = ""
    if example.similarity is not None:
        near = f"similarity {report.similarity(example.similarity)}; "
    measurement = example.seen_from(device)
    if measurement is None:
        return f"{near}not timed ({example.outcome or 'never measured'})"
    effect, where = measurement
    text = f"{near}{report.times(effect)} by this step"
    if where == example.device and example.speedup is not None and example.effect == effect:
        text += f", {report.times(example.speedup)} against the serial code, on {where}"
        text += f", {example.toolchain}"
    else:
        text += f", on {where}"
    elsewhere = sorted(item for item in example.effect_on.items() if item[0] != where)
    return text + "".join(f"; {report.times(times)} on {other}" for other, times in elsewhere)
