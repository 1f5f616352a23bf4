"""`regraph techniques mend`: changes of the vocabulary by a person, and their log.

Not here: proposals of the audit (audit.py).
"""

import getpass
import platform
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Annotated

import typer

from regraph_kg.cli.answers import answered, tell
from regraph_kg.cli.completion import complete_technique
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.progress import watch
from regraph_kg.cli.tables import counted, legible
from regraph_kg.errors import BadInput
from regraph_kg.graph import Curator
from regraph_kg.models.curation import Curation, LabelDecision, Note, Part
from regraph_kg.runs.ingest import embed_new
from regraph_kg.settings import read_settings
from regraph_kg.wiring.stores import open_curator


@dataclass(frozen=True, slots=True)
class CurationLog:
    """Who changed the vocabulary, and how."""

    curations: list[Curation]
    relabels: list[LabelDecision] | None
    """How ingests resolved names, with --relabels."""


ANSWERS = {"techniques mend": Curation | Sequence[Curation] | Sequence[str]}
"""A list of several undone or accepted; with --dry-run the commands."""


def _stated(why: str) -> str:
    if not why:
        raise BadInput("--why is empty; say why, for whoever reads the log")
    return why


Id = Annotated[str, argument("A technique's id.", autocompletion=complete_technique)]
Ids = Annotated[list[str], argument("Ids of techniques.", autocompletion=complete_technique)]
Why = Annotated[str, option("The reason, for whoever reads the log.")]
Reason = Annotated[str, option("The reason, for whoever reads the log.", callback=_stated)]
Who = Annotated[str | None, option("Who decides.", show_default="you, at this machine")]

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _root() -> None:
    """Change the vocabulary, logged and undoable; examples, failures and statistics go along."""


@app.command()
def merge(technique: Id, others: Ids, why: Reason, who: Who = None, as_json: Json = False) -> None:
    """Make OTHERS one with TECHNIQUE: steps, names and ids lead there, also what comes later."""
    note = note_of(who, why)
    curate(lambda curator: [curator.merge(technique, others, note)], as_json=as_json)


@app.command()
def split(  # noqa: PLR0913 (a command's options)
    *,
    technique: Id,
    aliases: Annotated[
        list[str], option("Names that go; commas between, or repeated.", "--aliases", "--alias")
    ],
    to: Annotated[str | None, option("The technique that they go to.", metavar="ID")] = None,
    name: Annotated[str, option("Of the new technique.", show_default="the first alias")] = "",
    new_id: Annotated[str, option("The new id.", "--id", show_default="by its name")] = "",
    definition: Annotated[str, option("What it is, in a sentence.")] = "",
    why: Reason,
    who: Who = None,
    as_json: Json = False,
) -> None:
    """Move --aliases, and exactly the examples so called, to a new technique, or to --to."""
    part, note = Part(name, new_id, definition), note_of(who, why)
    if to is None:
        curate(lambda curator: [curator.split(technique, aliases, part, note)], as_json=as_json)
    elif part == Part():
        curate(lambda curator: [curator.move(technique, aliases, to, note)], as_json=as_json)
    else:
        raise BadInput("--to names a technique that is there: leave --name, --id, --definition out")


@app.command()
def rename(
    *,
    technique: Id,
    name: Annotated[str, argument("Its new name.")],
    new_id: Annotated[str | None, option("Its new id.", "--id", show_default="as it is")] = None,
    why: Reason,
    who: Who = None,
    as_json: Json = False,
) -> None:
    """Give a technique another name; the old one, and the old id, lead to it still."""
    note = note_of(who, why)
    curate(lambda curator: [curator.rename(technique, name, note, new_id=new_id)], as_json=as_json)


@app.command()
def describe(  # noqa: PLR0913 (a command's options)
    *,
    technique: Id,
    definition: Annotated[str, option("What it is, in a sentence.")] = "",
    applies: Annotated[str, option("When it applies, in a sentence.")] = "",
    hurts: Annotated[str, option("When it does harm, in a sentence.")] = "",
    why: Why = "",
    who: Who = None,
    as_json: Json = False,
) -> None:
    """Say what a technique is; relabelling and search go by it."""
    texts = {"definition": definition, "applies": applies, "hurts": hurts}
    if not any(texts.values()):
        raise BadInput(
            "say what the technique is (--definition), when it applies (--applies),"
            " or when it does harm (--hurts)"
        )
    note = note_of(who, why)
    curate(lambda curator: [curator.describe(technique, note, **texts)], as_json=as_json)


@app.command()
def keep(
    techniques: Ids,
    aliases: Annotated[
        list[str] | None,
        option("Names that are right; commas between, or repeated.", "--aliases", "--alias"),
    ] = None,
    why: Why = "",
    who: Who = None,
    as_json: Json = False,
) -> None:
    """Note that techniques are right as they are, apart from each other, with these aliases."""
    note, labels = note_of(who, why), tuple(aliases or ())
    curate(lambda curator: [curator.keep(techniques, note, labels=labels)], as_json=as_json)


@app.command()
def drop(technique: Id, why: Reason, who: Who = None, as_json: Json = False) -> None:
    """Delete a technique that no step or failure leads to."""
    note = note_of(who, why)
    curate(lambda curator: [curator.drop(technique, note)], as_json=as_json)


@app.command()
def undo(
    numbers: Annotated[
        list[int] | None,
        argument("Numbers of curations.", show_default="the last that holds"),
    ] = None,
    why: Why = "",
    who: Who = None,
    as_json: Json = False,
) -> None:
    """Make as if curations had not been made, the latest undone first.

    The undo of an undo makes the curation again.
    """
    note = note_of(who, why)
    latest_first: list[int | None] = [*sorted(numbers or (), reverse=True)] or [None]
    curate(
        lambda curator: (curator.undo(number, note) for number in latest_first),
        several=len(latest_first) > 1,
        as_json=as_json,
    )


def curate(
    curations: Callable[[Curator], Iterable[Curation]], *, several: bool = False, as_json: bool
) -> None:
    """Make curations one after the other, and print those that were made, whatever ends them.

    `several`: the JSON is a list.
    """
    settings, made = read_settings(), list[Curation]()
    try:
        with closing(open_curator(settings)) as curator:
            for curation in curations(curator):
                made.append(curation)
                if not as_json:
                    _print(curation)
    finally:
        if made and as_json:
            tell(ANSWERS["techniques mend"], made if several else made[0])
        elif made:
            numbers = " ".join(str(curation.number) for curation in made)
            typer.echo(f"to take it back: regraph techniques mend undo {numbers}")
    watch(embed_new(settings))  # examples that left the archive


def _print(curation: Curation) -> None:
    typer.echo(f"curation {curation.number}: {legible(curation.summary)}")
    if moved := _moved(curation, " and "):
        typer.echo(moved)


def _moved(curation: Curation, between: str) -> str:
    """What a curation moved: "1 example and 0 failures moved"; nothing of one that moved none."""
    if not (curation.examples or curation.failures):
        return ""
    examples = counted(curation.examples, "example")
    return f"{examples}{between}{counted(curation.failures, 'failure')} moved"


def show_log(technique: str | None, *, relabels: bool, as_json: bool) -> None:
    """Print who changed the vocabulary, when, how and why; oldest first."""
    with open_own_curator() as curator:
        curations = [
            entry for entry in curator.log() if technique is None or technique in entry.techniques
        ]
        verdicts = [
            verdict
            for verdict in (curator.verdicts() if relabels else ())
            if technique is None or technique in (verdict.technique, verdict.runner_up)
        ]
    if answered(CurationLog, CurationLog(curations, verdicts if relabels else None), as_json):
        return
    for line in (*_log_lines(curations), *map(_verdict_line, verdicts)):
        typer.echo(line)
    if not curations and not verdicts:
        typer.echo("nothing has been curated")


def open_own_curator() -> "closing[Curator]":
    """The curator of the settings' graph."""
    return closing(open_curator(read_settings()))


def note_of(who: str | None, why: str) -> Note:
    """Who decides (by default this user), and why."""
    return Note(_user() if who is None else who, why)


def _user() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container without a user of that number
        user = "somebody"
    return f"{user} @ {platform.node() or 'somewhere'}"


def command(words: Iterable[str]) -> str:
    """A command as it is typed in a shell, quoted for any characters of a name."""
    return " ".join(map(_word, ("regraph", *words)))


def _word(word: str) -> str:
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(f"\\x{byte:02x}" for byte in word.encode("utf-8", "surrogatepass")) + "'"


def _log_lines(curations: Iterable[Curation]) -> Iterator[str]:
    for curation in curations:
        yield f"{curation.number}  {curation.created}  {legible(curation.who)}"
        moved = _moved(curation, ", ")
        yield f"   {legible(curation.summary)}" + (f" ({moved})" if moved else "")
        if curation.labels:
            yield f"   names: {', '.join(legible(label) for label in curation.labels)}"
        if curation.why:
            yield f"   why: {legible(curation.why)}"
        if curation.undone_by is not None:
            yield f"   undone by {curation.undone_by}"


def _verdict_line(row: LabelDecision) -> str:
    rival = f", then {row.runner_up} {row.runner_up_score or 0:.2f}" if row.runner_up else ""
    return (
        f"{row.created}  {legible(row.label)} -> {row.technique}"
        f" ({row.stage} {row.score:.2f}{rival})"
    )
