"""`regraph dev relabel-check`: accuracy of relabelling against labels by people."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from regraph_kg import wiring
from regraph_kg.cli.answers import Json, tell
from regraph_kg.cli.tables import print_table
from regraph_kg.cli.verdicts import NameVerdict, decision, legible
from regraph_kg.ingest import check, pairs
from regraph_kg.ingest.check import Judged, LabelCounts
from regraph_kg.ingest.relabel.usage import NameUse
from regraph_kg.models.graph import RelabelLevel
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.technique import Vocabulary
from regraph_kg.settings import Settings, read_settings

LEVELS: Mapping[RelabelLevel, tuple[RelabelLevel, ...]] = {
    "exact": ("exact",),
    "lexical": ("exact", "lexical"),
    "model": ("exact", "lexical", "model"),
}
"""Levels that run for a level: it, and those that do less."""


def relabel_check(  # noqa: PLR0913, PLR0917 (a command's options)
    labels: Annotated[
        Path | None,
        typer.Option(help="Folder of a labelled set.", show_default="relabel/ of the corpus"),
    ] = None,
    relabel: Annotated[
        RelabelLevel, typer.Option(help="Judge this level, beside those that do less.")
    ] = "lexical",
    split: Annotated[
        Literal["dev", "test", "all"], typer.Option(help="Half of the set: tune by dev only.")
    ] = "all",
    model: Annotated[
        str | None,
        typer.Option(
            metavar="recorded|ollama:NAME|openai:NAME|batch:FOLDER",
            help="Whom --relabel model asks; recorded has answers to the half test alone.",
            show_default="REGRAPH_MODEL, else recorded",
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="List the wrong and the missed merges.")
    ] = False,
    clusters: Annotated[
        Literal["empty", "shipped"] | None,
        typer.Option(help="Count pairs of the set's clusters, with this vocabulary."),
    ] = None,
    aliases: Annotated[
        bool,
        typer.Option("--aliases", help="Ask about the vocabulary's own aliases, without them."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Relabel a labelled set against the vocabulary alone, and count errors stage by stage.

    A wrong merge takes a name for another technique, or a new one for a known one: it destroys
    knowledge. A missed merge only splits it. No graph is read. With --clusters, two names that are
    put together are a merge, whatever they are taken for. With --aliases, the names are the
    vocabulary's aliases, as if it lacked them: what a model takes for another technique may be
    too wide a name for its own.

    Exit code 1: more than 0.5 % of the names were merged wrongly at the asked level.
    """
    settings = read_settings(model=model)
    folder = labels or wiring.corpus_folder(settings) / "relabel"
    half = None if split == "all" else split
    if clusters is not None:
        reference = Vocabulary(wiring.vocabulary(settings) if clusters == "shipped" else ())
        _check_pairs(settings, pairs.read_pairs(folder, half), reference, LEVELS[relabel])
        return
    shipped = wiring.vocabulary(settings)
    if aliases:
        shipped, lines = check.aliases_of(shipped)
    else:
        lines = check.read_labelled(folder, half)
    vocabulary = Vocabulary(shipped)
    judged: dict[RelabelLevel, Sequence[Judged]] = {}
    for level in LEVELS[relabel]:
        recorded = level == "model" and ModelSpec.parse(settings.model).is_recorded
        verdict_model = wiring.recorded_verdicts(settings) if recorded else None
        cascade = wiring.cascade(settings, vocabulary, level, verdict_model)
        verdicts = tuple(cascade.settle({(line.target, line.label): NameUse() for line in lines}))
        judged[level] = [check.judge(*pair) for pair in zip(lines, verdicts, strict=True)]
    if as_json:
        tell(ANSWERS["dev relabel-check"], _report(judged, verbose=verbose))
    else:
        _print(judged)
        if verbose:
            _list(judged[relabel])
    if not check.tally(judged[relabel]).passed:
        raise typer.Exit(1)


def _check_pairs(
    settings: Settings, pair_set: pairs.PairSet, names: Vocabulary, levels: Sequence[RelabelLevel]
) -> None:
    """Print counts alone: names of the half "test" stay hidden."""
    table = Table("level", box=None, pad_edge=False)
    headings = ("names", "merged right", "wrong", "missed", "precision", "recall")
    for heading in headings:
        table.add_column(heading, justify="right")
    uses = pair_set.uses()
    for level in levels:
        verdicts = wiring.cascade(settings, names, level).settle(uses)
        ids = (verdict.relabelled.technique for verdict in verdicts)
        result = pairs.count(pair_set, dict(zip(uses, ids, strict=True)))
        counts = map(str, (result.names, result.right, result.wrong, result.missed))
        table.add_row(level, *counts, f"{result.precision:.3f}", f"{result.recall:.3f}")
    print_table(table, range(1, len(headings) + 1))


@dataclass(frozen=True, slots=True)
class Misjudged:
    """A name that was taken for another technique than the one wanted, or for none."""

    result: str
    wanted: str | None
    kind: str
    verdict: NameVerdict


@dataclass(frozen=True, slots=True)
class LevelAnswer:
    """Results of one level in names: all, by stage, by kind."""

    right: int
    wrong: int
    missed: int
    total: int
    stages: dict[str, LabelCounts]
    kinds: dict[str, LabelCounts]
    errors: list[Misjudged] | None = None
    """The wrong and missed names, with --verbose."""


ANSWERS = {"dev relabel-check": dict[str, LevelAnswer]}
"""Answers by level."""


def _report(judged: Mapping[RelabelLevel, Sequence[Judged]], *, verbose: bool) -> object:
    return {
        level: LevelAnswer(
            **asdict(check.tally(rows)),
            total=len(rows),
            stages={str(stage): count for stage, count in check.by_stage(rows).items()},
            kinds={str(kind): count for kind, count in check.by_kind(rows).items()},
            errors=[_error(row) for row in rows if row.result != "right"] if verbose else None,
        )
        for level, rows in judged.items()
    }


def _error(row: Judged) -> Misjudged:
    line = row.line
    verdict = replace(decision(row.verdict), target=line.target)
    return Misjudged(row.result, line.wanted, line.kind, verdict)


def _print(judged: Mapping[RelabelLevel, Sequence[Judged]]) -> None:
    table = Table("level", "stage", box=None, pad_edge=False)
    for heading in ("names", "right", "wrong merges", "missed merges"):
        table.add_column(heading, justify="right")
    for level, rows in judged.items():
        for stage, count in check.by_stage(rows).items():
            table.add_row(level, stage, *_counts(count))
        table.add_row(level, "all", *_counts(check.tally(rows)), style="bold", end_section=True)
    print_table(table, range(2, 6))


def _counts(count: LabelCounts) -> list[str]:
    shares = (f"{part} ({100 * part / count.total:.1f} %)" for part in (count.wrong, count.missed))
    return [str(count.total), f"{count.right} ({100 * count.right / count.total:.1f} %)", *shares]


def _list(rows: Sequence[Judged]) -> None:
    wrong = Counter(row.result for row in rows)
    for result in ("wrong", "missed"):
        typer.echo(f"\n{result} merges: {wrong[result]}")
        for row in rows:
            if row.result == result:
                relabelled = row.verdict.relabelled
                decided = "new" if relabelled.stage == "new" else relabelled.technique
                expected = row.line.wanted or "new"
                label = legible(row.line.label)
                typer.echo(f"  {label}: {decided} ({relabelled.stage}), not {expected}")
