"""`regraph graph check` and `regraph graph bound`: the graph proves itself, and stays light."""

from collections import Counter
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.answers import Json, tell
from regraph_kg.cli.progress import watch
from regraph_kg.models.graph import GraphFinding
from regraph_kg.runs.ingest import embed_new
from regraph_kg.settings import read_settings

SHOWN = 20
"""Findings printed; the rest are counted."""


@dataclass(frozen=True, slots=True)
class GraphBound:
    """How many examples of a transition stay in sight."""

    examples: int
    transitions: int | None = None
    """That a change was about."""


ANSWERS = {"graph check": tuple[GraphFinding, ...], "graph bound": GraphBound}


def check(
    *,
    repair: Annotated[bool, typer.Option("--repair", help="Rebuild what is derived.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Prove that statistics, failures and bookkeeping are what the trajectories say.

    Run it while nobody ingests: what is half-way then may be found too. Lost or doubled examples
    cannot be rebuilt; restore a backup.

    Exit code 1: something is wrong (with --repair: is still wrong).
    """
    settings = read_settings()
    with closing(wiring.open_store(settings)) as store:
        found = store.check()
        mended = len(found)
        if repair and found:
            store.repair(found)
            watch(embed_new(settings))
            found = store.check()
        mended -= len(found)
    if as_json:
        tell(ANSWERS["graph check"], found)
    else:
        for finding in found[:SHOWN]:
            typer.echo(
                f"{finding.kind}: {finding.source} -> {finding.target}: {finding.what}:"
                f" {finding.found}, but the trajectories say {finding.expected}"
            )
        _conclude(Counter(finding.kind for finding in found), mended, repair=repair)
    if found:
        raise typer.Exit(1)


def _conclude(kinds: Counter[str], mended: int, *, repair: bool) -> None:
    if mended:
        typer.echo(f"{mended} findings mended")
    if not kinds:
        typer.echo("the graph is what its trajectories say")
        return
    counts = ", ".join(f"{count} of kind {kind}" for kind, count in sorted(kinds.items()))
    lost = kinds["example"] > 0
    derived = kinds.total() > kinds["example"]
    advice = ["mend what is derived: regraph graph check --repair"] * (derived and not repair)
    advice += ["lost or doubled examples come back from a backup only"] * lost
    typer.echo(
        f"{kinds.total()} findings ({counts}); {'; '.join(advice) or 'is somebody writing?'}"
    )


def bound(
    examples: Annotated[
        int | None, typer.Argument(min=1, help="How many stay.", show_default="show the present")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show, or change, how many examples of a transition stay in sight as TRANSITIONs.

    The best stay: every device's and every problem's first. The others are archived: out of Neo4j
    Browser's way, but counted in the statistics and exported. A change moves examples to the
    archive or back; it may be interrupted and run again.
    """
    settings = read_settings()
    with closing(wiring.open_store(settings)) as store:
        found = GraphBound(store.bound() if examples is None else examples)
        if examples is not None:
            found = replace(found, transitions=len(list(store.set_bound(examples))))
            watch(embed_new(settings))
    if as_json:
        tell(GraphBound, found)
        return
    of = "a transition" if examples is None else f"each of {found.transitions} transitions"
    typer.echo(f"{found.examples} examples of {of} stay in sight, the others are archived")
