"""`regraph techniques`: the graph's knowledge of techniques, and the audit of the vocabulary."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Annotated

import typer
from pydantic import ConfigDict

from regraph_kg import report
from regraph_kg.cli import curation
from regraph_kg.cli.answers import answered, tell
from regraph_kg.cli.completion import complete_technique
from regraph_kg.cli.curation import command, curate, note_of, open_own_curator
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.tables import PlainConsole, counted, legible, print_rows
from regraph_kg.errors import BadInput
from regraph_kg.graph import Curator
from regraph_kg.models.curation import Cluster, Concern, Curation, Note, Proposal, token_of
from regraph_kg.models.graph import Neighbourhood, Successor
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique
from regraph_kg.runs.technique_names import by_id, resolve
from regraph_kg.settings import read_settings
from regraph_kg.wiring.names import audit_pages
from regraph_kg.wiring.stores import open_store

SHOWN = 3
"""Findings of a cluster that are printed."""

HEADINGS = {
    "shared-name": "two techniques share the name {about}",
    "low-margin": "{about} was taken for {first}, hardly rather than {second} (margin {score})",
    "suspect": "two techniques may be one ({score} alike)",
    "review": "new, and nobody has looked at it",
    "orphan": "nothing leads to it",
    "undescribed": "no definition tells what it is",
}
_REASONS = {
    "merge": "one technique under several names, as the audit proposed",
    "drop": "nothing leads to it, as the audit found",
    "keep": "looked at on a page of the audit",
}
"""Reasons of proposals that a person did not explain."""


class AuditFinding(Concern):
    """See `Concern`; commands as they are typed."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)
    commands: tuple[str, ...]  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class AuditCluster:
    """See `Cluster`; proposals as commands."""

    token: str
    techniques: tuple[str, ...]
    examples: tuple[int, ...]
    labels: tuple[tuple[str, ...], ...]
    moved: int
    proposals: list[str]
    findings: list[AuditFinding]


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Clusters that one token stands for."""

    token: str
    clusters: list[AuditCluster]


@dataclass(frozen=True, slots=True)
class TechniqueShown:
    """A technique and its observed successors."""

    technique: Technique
    successors: tuple[Successor, ...]


ANSWERS = {
    "techniques show": tuple[Technique, ...] | TechniqueShown | curation.CurationLog,
    "techniques audit": Sequence[AuditPage],
    **curation.ANSWERS,
}
"""Answers for all techniques, for one, and with --log."""

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _root() -> None:
    """Look at the techniques; mend the vocabulary."""


@app.command()
def show(
    *,
    technique: Annotated[
        str | None,
        argument(
            "Its id, name or alias.",
            metavar="ID",
            show_default="a list of all",
            autocompletion=complete_technique,
        ),
    ] = None,
    target: Annotated[
        Target | None, option("Only this target's; where a name is looked up.")
    ] = None,
    device: Annotated[str, option("Whose statistics, if it has any.", show_default="all")] = "",
    log: Annotated[bool, option("Who changed it, or the vocabulary, how and why.")] = False,
    relabels: Annotated[bool, option("With --log: also how ingests resolved labels.")] = False,
    as_json: Json = False,
) -> None:
    """Show one technique: what it is, and what was seen to follow it, with what effect.

    Without ID, list all with their other names; as JSON, a file for regraph ingest --vocabulary.
    """
    if log:
        curation.show_log(technique, relabels=relabels, as_json=as_json)
    elif technique is None:
        _list(target, as_json=as_json)
    else:
        _show(technique, target, device, as_json=as_json)


app.add_typer(curation.app, name="mend")


def _list(target: Target | None, *, as_json: bool) -> None:
    with closing(open_store(read_settings())) as store:
        techniques = store.techniques(target)
    if answered(tuple[Technique, ...], techniques, as_json):
        return
    rows = ((one.id, one.name, ", ".join(sorted(one.aliases))) for one in techniques)
    print_rows(("id", "name", "also called"), rows, {0})


def _show(technique: str, target: Target | None, device: str, *, as_json: bool) -> None:
    with closing(open_store(read_settings())) as store:
        techniques = by_id(store.techniques())
        resolved = techniques[resolve(technique, techniques, target)]
        neighbourhood = store.neighbourhood(resolved.id, device=device)
    if not answered(TechniqueShown, TechniqueShown(resolved, neighbourhood.successors), as_json):
        _print(resolved, neighbourhood, device)


def _print(technique: Technique, neighbourhood: Neighbourhood, device: str) -> None:
    console = PlainConsole()
    console.print(f"{technique.name} ({technique.id})", style="bold")
    texts = {"": technique.definition, "When: ": technique.applies, "It hurts: ": technique.hurts}
    for label, text in texts.items():
        if text:
            console.print(f"{label}{text}")
    if technique.aliases:
        console.print(f"Also called: {', '.join(sorted(technique.aliases))}")
    if technique.source:
        console.print(f"Described in: {technique.source}")
    if not neighbourhood.successors:
        console.print("Nothing was seen to follow it.")
        return
    headings = ("examples", "tried", "verified", "declined", "effect", "best", "")
    rows = (_cells(successor, device) for successor in neighbourhood.successors)
    print_rows(("followed by", *headings), rows, range(1, 7), console)


def _cells(successor: Successor, device: str) -> Iterator[str]:
    yield successor.technique.id
    yield from map(str, (successor.examples, successor.tried))
    yield from map(str, (successor.verified, successor.declined))
    for effect in (successor.effect, successor.best_effect):
        yield "-" if effect is None else report.times(effect)
    yield "other devices" if device and successor.statistics == "other-devices" else ""


@app.command()
def audit(
    page: Annotated[int, option("Which page of clusters.", min=1)] = 1,
    everything: Annotated[bool, option("All pages.", "--all")] = False,
    as_json: Json = False,
) -> None:
    """Look for what is wrong with the vocabulary: findings in clusters, what changes most first.

    Each cluster says what `regraph techniques mend accept` would do, and the commands to choose
    from instead; keep says that all is well, and the finding does not come again.

    Exit code 0: nothing to look at; 1: there is something.
    """
    with open_own_curator() as curator:
        pages = audit_pages(curator)
    if as_json:
        printed = [AuditPage(_token(found), [*map(_cluster_json, found)]) for found in pages]
        tell(Sequence[AuditPage], printed)
    elif not pages:
        typer.echo("the vocabulary is clean: nothing to look at")
    elif page > len(pages):
        raise BadInput(f"--page {page}: the audit has {counted(len(pages), 'page')}")
    else:
        for number in range(1, len(pages) + 1) if everything else (page,):
            for line in _page_lines(pages[number - 1], number, len(pages)):
                typer.echo(line)
    if pages:
        raise typer.Exit(1)


@curation.app.command()
def accept(
    tokens: Annotated[list[str], argument("Pages or clusters of the audit.", metavar="TOKEN...")],
    dry_run: Annotated[bool, option("Print what would be done.")] = False,
    why: curation.Why = "",
    who: curation.Who = None,
    as_json: Json = False,
) -> None:
    """Do what the audit proposes for pages or clusters, each a curation.

    Where the graph has changed since it was shown, a token is refused, and nothing is done. After
    Ctrl-C the next audit shows the rest.
    """
    if not dry_run:
        curate(lambda curator: _accepted(curator, tokens, who, why), several=True, as_json=as_json)
        return
    with open_own_curator() as curator:
        proposals = _proposed(audit_pages(curator), tokens)
    commands = [command(proposal.words) for proposal in proposals]
    if not answered(Sequence[str], commands, as_json):
        typer.echo("\n".join(commands))


def _accepted(
    curator: Curator, tokens: Sequence[str], who: str | None, why: str
) -> Iterator[Curation]:
    for proposal in _proposed(audit_pages(curator), tokens):
        yield _carry_out(curator, proposal, note_of(who, why or _REASONS[proposal.kind]))


def _proposed(pages: Sequence[Sequence[Cluster]], tokens: Sequence[str]) -> list[Proposal]:
    """The proposals that the tokens of pages or clusters stand for, in the audit's order."""
    names = [(cluster, {cluster.token, _token(page)}) for page in pages for cluster in page]
    for token in tokens:
        if not any(token in its_tokens for _, its_tokens in names):
            raise BadInput(
                f"{token[:40]!r}: the audit finds nothing now that has this token; the graph has"
                " changed since, or it is mistyped: regraph techniques audit"
            )
    chosen = [cluster for cluster, its_tokens in names if its_tokens & {*tokens}]
    proposals = [proposal for cluster in chosen for proposal in cluster.proposals]
    if not proposals:
        raise BadInput(f"{tokens[0]}: nothing is proposed there; take one of its commands")
    return proposals


def _carry_out(curator: Curator, proposal: Proposal, note: Note) -> Curation:
    techniques = proposal.techniques
    if proposal.kind == "merge":
        return curator.merge(techniques[0], techniques[1:], note)
    if proposal.kind == "drop":
        return curator.drop(techniques[0], note)
    return curator.keep(techniques, note, labels=(proposal.alias,) if proposal.alias else ())


def _token(page: Sequence[Cluster]) -> str:
    return token_of(*(cluster.token for cluster in page))


def _page_lines(page: Sequence[Cluster], number: int, pages: int) -> Iterator[str]:
    for place, cluster in enumerate(page, 1):
        yield f"{place}. {cluster.token}: {_proposal(cluster)}"
        width = max(map(len, cluster.techniques))
        columns = cluster.techniques, cluster.examples, cluster.labels
        for key, examples, labels in zip(*columns, strict=True):
            called = ", ".join(legible(json.dumps(label, ensure_ascii=False)) for label in labels)
            yield f"    {key:<{width}}  {counted(examples, 'example'):>12}  {called}".rstrip()
        for finding in cluster.findings[:SHOWN]:
            yield from _concern_lines(finding)
        if more := len(cluster.findings) - SHOWN:
            yield from [f"and {counted(more, 'finding')} more (--json)"] if more > 0 else []
        yield ""
    todo = sum(bool(cluster.proposals) for cluster in page)
    yield f"page {number} of {pages}; {todo} of its {counted(len(page), 'cluster')} can be accepted"
    if todo:
        yield f"  {command(('techniques', 'mend', 'accept', _token(page)))}"


def _proposal(cluster: Cluster) -> str:
    """The effect of accepting a cluster, in a few words."""
    if not cluster.proposals:
        return "to be decided by hand"
    parts = [
        f"merge {', '.join(proposal.techniques[1:])} into {proposal.techniques[0]}"
        for proposal in cluster.proposals
        if proposal.kind == "merge"
    ]
    for kind in ("keep", "drop"):
        techniques = [key for p in cluster.proposals if p.kind == kind for key in p.techniques]
        more = f" and {len(techniques) - 1} more" if len(techniques) > 1 else ""
        parts += [f"{kind} {techniques[0]}{more}"] if techniques else []
    moved = f" ({counted(cluster.moved, 'example')} moved)" if cluster.moved else ""
    return "; ".join(parts) + moved


def _concern_lines(concern: Concern) -> Iterator[str]:
    first, second = (*concern.techniques, "")[:2]
    about = legible(json.dumps(concern.about, ensure_ascii=False))
    score = f"{concern.score or 0:.2f}"
    heading = HEADINGS[concern.kind].format(about=about, first=first, second=second, score=score)
    yield f"{concern.kind}: {heading}"
    for words in concern.commands:
        yield f"  {command(words)}"


def _cluster_json(cluster: Cluster) -> AuditCluster:
    findings = [
        AuditFinding(**dict(finding) | {"commands": tuple(map(command, finding.commands))})
        for finding in cluster.findings
    ]
    proposals = [command(proposal.words) for proposal in cluster.proposals]
    values = dict(cluster) | {"proposals": proposals, "findings": findings}
    return AuditCluster(token=cluster.token, **values)
