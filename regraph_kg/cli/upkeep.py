"""`regraph graph check`: consistency of one graph, or a comparison of two."""

from collections import Counter
from contextlib import closing
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.answers import tell
from regraph_kg.cli.exchange import compare
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.progress import watch
from regraph_kg.errors import BadInput
from regraph_kg.models.difference import PartDifference
from regraph_kg.models.graph import GraphFinding
from regraph_kg.runs.ingest import embed_new
from regraph_kg.settings import read_settings

SHOWN = 20
"""Findings printed; the rest are counted."""
PAIR = 2


ANSWERS = {"graph check": tuple[GraphFinding, ...] | dict[str, PartDifference]}
"""Differences of two graphs by part."""


def check(
    *,
    graphs: Annotated[
        list[str] | None,
        argument(
            "Two graphs to compare: exports, backups, or stores.",
            metavar="[A B]",
            show_default="none: the graph alone",
        ),
    ] = None,
    repair: Annotated[bool, option("Rebuild what is derived.")] = False,
    as_json: Json = False,
) -> None:
    """Prove that statistics, failures and bookkeeping are what the trajectories say.

    Run it while nobody ingests: what is half-way then may be found too. Lost or doubled examples
    cannot be rebuilt; restore a backup.

    With A and B, compare two graphs instead: trajectories, techniques, and statistics as the
    trajectories say them. Each is a file of regraph graph export, "embedded", or the URI of a
    store, whose user and password are those of the settings. Beside an export of trajectories,
    which does not describe techniques, those that steps lead to are compared by id.

    Exit code 1: something is wrong (with --repair: is still wrong), or A and B differ.
    """
    settings = read_settings()
    if graphs:
        if len(graphs) != PAIR or repair:
            raise BadInput("check: name two graphs, A and B, or none")
        compare(settings, *graphs, as_json=as_json)
        return
    with closing(wiring.open_store(settings)) as store:
        findings = store.check()
        mended = len(findings)
        if repair and findings:
            store.repair(findings)
            watch(embed_new(settings))
            findings = store.check()
        mended -= len(findings)
    if as_json:
        tell(tuple[GraphFinding, ...], findings)
    else:
        for finding in findings[:SHOWN]:
            typer.echo(
                f"{finding.kind}: {finding.source} -> {finding.target}: {finding.what}:"
                f" {finding.found}, but the trajectories say {finding.expected}"
            )
        _conclude(Counter(finding.kind for finding in findings), mended, repair=repair)
    if findings:
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
