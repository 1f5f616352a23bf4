"""`regraph dev`: commands for maintainers of a corpus or a vocabulary."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from regraph_kg.cli import measure
from regraph_kg.cli.ingest import NameVerdict
from regraph_kg.cli.json_answers import answered
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.tables import legible, print_rows
from regraph_kg.ingest import check, pairs
from regraph_kg.ingest.check import Judged, LabelCounts
from regraph_kg.ingest.relabel.aliases import NameUse
from regraph_kg.models.graph import RelabelLevel
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.technique import Vocabulary
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.names import open_cascade, read_vocabulary, recorded_verdicts
from regraph_kg.wiring.shipped import corpus_folder
from regraph_kg.wiring.stores import write_browser_pack

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _root() -> None:
    """For maintainers of a corpus or a vocabulary."""


app.command()(measure.measure)


@app.command()
def browser_pack(
    folder: Annotated[Path, argument("Where to write; made if it is not there.")],
) -> None:
    """Write saved queries and a style for Neo4j Browser, to be dropped onto its page.

    What each query answers, with pictures: regraph docs browser.
    """
    queries, style = write_browser_pack(folder)
    typer.echo(f"drag onto Neo4j Browser: {queries}, then {style}")


LEVELS: Mapping[RelabelLevel, tuple[RelabelLevel, ...]] = {
    "exact": ("exact",),
    "lexical": ("exact", "lexical"),
    "model": ("exact", "lexical", "model"),
}
"""Levels that run for a level: it, and those that do less."""


@app.command()
def relabel_check(  # noqa: PLR0913, PLR0917 (a command's options)
    labels: Annotated[
        Path | None, option("Folder of a labelled set.", show_default="relabel/ of the corpus")
    ] = None,
    relabel: Annotated[
        RelabelLevel, option("Judge this level, beside those that do less.")
    ] = "lexical",
    split: Annotated[
        Literal["dev", "test", "all"], option("Half of the set: tune by dev only.")
    ] = "all",
    model: Annotated[
        str | None,
        option(
            "Whom --relabel model asks; recorded has answers to the half test alone.",
            metavar="recorded|ollama:NAME|openai:NAME|batch:FOLDER",
            show_default="REGRAPH_MODEL, else recorded",
        ),
    ] = None,
    verbose: Annotated[bool, option("List the wrong and the missed merges.")] = False,
    clusters: Annotated[
        Literal["empty", "shipped"] | None,
        option("Count pairs of the set's clusters, with this vocabulary."),
    ] = None,
    aliases: Annotated[
        bool, option("Ask about the vocabulary's own aliases, without them.")
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
    folder = labels or corpus_folder(settings) / "relabel"
    half = None if split == "all" else split
    if clusters is not None:
        reference = Vocabulary(read_vocabulary(settings) if clusters == "shipped" else ())
        _check_pairs(settings, pairs.read_pairs(folder, half), reference, LEVELS[relabel])
        return
    shipped = read_vocabulary(settings)
    if aliases:
        shipped, lines = check.aliases_of(shipped)
    else:
        lines = check.read_labelled(folder, half)
    vocabulary = Vocabulary(shipped)
    judged: dict[RelabelLevel, Sequence[Judged]] = {}
    for level in LEVELS[relabel]:
        recorded = level == "model" and ModelSpec.parse(settings.model).is_recorded
        verdict_model = recorded_verdicts(settings) if recorded else None
        cascade = open_cascade(settings, vocabulary, level, verdict_model)
        verdicts = tuple(cascade.settle({(line.target, line.label): NameUse() for line in lines}))
        judged[level] = [check.judge(*pair) for pair in zip(lines, verdicts, strict=True)]
    if not answered(_report(judged, verbose=verbose), as_json):
        _print(judged)
        if verbose:
            _list(judged[relabel])
    if not check.tally(judged[relabel]).passed:
        raise typer.Exit(1)


def _check_pairs(
    settings: Settings, pair_set: pairs.PairSet, names: Vocabulary, levels: Sequence[RelabelLevel]
) -> None:
    """Print counts alone: names of the half "test" stay hidden."""
    headings = ("level", "names", "merged right", "wrong", "missed", "precision", "recall")
    uses, rows = pair_set.uses(), list[tuple[str, ...]]()
    for level in levels:
        verdicts = open_cascade(settings, names, level).settle(uses)
        ids = (verdict.relabelled.technique for verdict in verdicts)
        result = pairs.count(pair_set, dict(zip(uses, ids, strict=True)))
        counts = map(str, (result.names, result.right, result.wrong, result.missed))
        rows.append((level, *counts, f"{result.precision:.3f}", f"{result.recall:.3f}"))
    print_rows(headings, rows, range(1, len(headings)))


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
    verdict = NameVerdict(**asdict(row.verdict.relabelled), target=line.target)
    return Misjudged(row.result, line.wanted, line.kind, verdict)


def _print(judged: Mapping[RelabelLevel, Sequence[Judged]]) -> None:
    headings = ("level", "stage", "names", "right", "wrong merges", "missed merges")
    rows = list[tuple[str, ...]]()
    for level, lines in judged.items():
        stages = check.by_stage(lines).items()
        rows += [(level, stage, *_counts(count)) for stage, count in stages]
        rows.append((level, "all", *_counts(check.tally(lines))))
    print_rows(headings, rows, range(2, len(headings)))


def _counts(count: LabelCounts) -> list[str]:
    parts = (count.right, count.wrong, count.missed)
    return [str(count.total), *(f"{part} ({part / count.total:.1%})" for part in parts)]


def _list(rows: Sequence[Judged]) -> None:
    for result in ("wrong", "missed"):
        errors = [row for row in rows if row.result == result]
        typer.echo(f"\n{result} merges: {len(errors)}")
        for row in errors:
            relabelled = row.verdict.relabelled
            decided = "new" if relabelled.stage == "new" else relabelled.technique
            label, expected = legible(row.line.label), row.line.wanted or "new"
            typer.echo(f"  {label}: {decided} ({relabelled.stage}), not {expected}")
